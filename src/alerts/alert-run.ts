import type { AlertState } from "./alert-state.ts";
import type { RuleFinding } from "../health/rules.ts";
import type { HealthStatus } from "../health/status.ts";
import type { Change } from "./deliveries.ts";

export const RUN_TRIGGERS = ["cron", "manual"] as const;
/** Trigger of an evaluation. */
export type AlertTrigger = (typeof RUN_TRIGGERS)[number];

/** A notification of a target about a result. */
export interface ResultNotice {
  readonly target: string;
  readonly change: Change;
  readonly delivered: boolean;
}

/** Result of an evaluation for one alert. Times are RFC 3339. */
export interface AlertResult extends Omit<RuleFinding, "verdict" | "forMs"> {
  readonly state: AlertState;
  readonly previousState: AlertState;
  /** Time of the last state change. */
  readonly since: string;
  readonly notified: readonly ResultNotice[];
}

/** Result of sending one message to a target. */
export interface Receipt {
  readonly target: string;
  readonly delivered: boolean;
  readonly attempts: number;
  /** Status of the last answer; null if there was none. */
  readonly status: number | null;
  /** Why the delivery failed, without URLs or secrets. */
  readonly error: string | null;
  /** RFC 3339. */
  readonly at: string;
  readonly duration_ms: number;
}

/** Result of the dead-man's ping. */
export type PingOutcome = "sent" | "failed" | "not_configured";

/** One evaluation of all rules. Times are RFC 3339 in UTC with milliseconds. */
export interface AlertRun {
  /** UUIDv7: ids ascend with time. */
  readonly id: string;
  readonly trigger: AlertTrigger;
  readonly requested_by: string;
  readonly started_at: string;
  /** Null if the evaluation was interrupted before it had notified. */
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  readonly worst: HealthStatus;
  readonly rulesTotal: number;
  /** Number of alerts in each of these states. */
  readonly pending: number;
  readonly firing: number;
  readonly nodata: number;
  /**
   * Number of alerts that this evaluation raised and resolved. An alert counts once from raising to
   * resolving, whatever its states in between.
   */
  readonly fired: number;
  readonly resolved: number;
  /** Number of firing or dataless alerts that the current pause excuses. */
  readonly suppressed: number;
  /** Number of delivered and of failed messages. */
  readonly notified: number;
  readonly notifyFailed: number;
  /** Whether an alert changed its state or a notification was due. */
  readonly changed: boolean;
  readonly results: readonly AlertResult[];
  readonly deliveries: readonly Receipt[];
  readonly ping: PingOutcome | null;
  readonly workerVersion: string | null;
}
