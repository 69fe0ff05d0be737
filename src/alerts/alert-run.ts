import type { AlertState } from "./alert-state.ts";
import type { RuleFinding } from "../health/rules.ts";
import type { HealthStatus } from "../health/status.ts";
import type { Change } from "./deliveries.ts";

export const RUN_TRIGGERS = ["cron", "manual"] as const;
/** What an evaluation follows. */
export type AlertTrigger = (typeof RUN_TRIGGERS)[number];

/** A target that was to be notified of a result, and whether the message arrived. */
export interface ResultNotice {
  readonly target: string;
  readonly change: Change;
  readonly delivered: boolean;
}

/** What an evaluation found of one alert. Times are RFC 3339. */
export interface AlertResult extends Omit<RuleFinding, "verdict" | "forMs"> {
  readonly state: AlertState;
  readonly previousState: AlertState;
  /** When it came into this state. */
  readonly since: string;
  readonly notified: readonly ResultNotice[];
}

/** What came of sending a target one message. */
export interface Receipt {
  readonly target: string;
  readonly delivered: boolean;
  readonly attempts: number;
  /** The last answer's status; null if there was none. */
  readonly status: number | null;
  /** Why it was not delivered. Never a URL or a secret. */
  readonly error: string | null;
  /** RFC 3339. */
  readonly at: string;
  readonly duration_ms: number;
}

/** What came of the dead-man's ping. */
export type PingOutcome = "sent" | "failed" | "not_configured";

/** One evaluation of all rules, as operators see it. Times are RFC 3339, UTC, milliseconds. */
export interface AlertRun {
  /** UUIDv7, so that ids ascend with time. */
  readonly id: string;
  readonly trigger: AlertTrigger;
  readonly requested_by: string;
  readonly started_at: string;
  /** Null if it was interrupted before its notifications were sent. */
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  readonly worst: HealthStatus;
  readonly rulesTotal: number;
  /** Alerts in each of these states. */
  readonly pending: number;
  readonly firing: number;
  readonly nodata: number;
  /**
   * Alerts that were raised at this evaluation, since they fire or have been without data for a
   * while, and that were resolved: each once, whatever its states in between.
   */
  readonly fired: number;
  readonly resolved: number;
  /** Alerts that fire or have no data, and that the present pause excuses. */
  readonly suppressed: number;
  /** Messages that were delivered, and that were not. */
  readonly notified: number;
  readonly notifyFailed: number;
  /** Whether an alert has changed its state, or anybody was to be notified. */
  readonly changed: boolean;
  readonly results: readonly AlertResult[];
  readonly deliveries: readonly Receipt[];
  readonly ping: PingOutcome | null;
  readonly workerVersion: string | null;
}
