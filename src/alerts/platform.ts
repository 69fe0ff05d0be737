import type { FactSources, TokenFacts } from "../health/facts.ts";
import type { Log } from "../log.ts";
import type { AlertRun } from "./alert-run.ts";
import type { MonitorState } from "./monitor-state.ts";
import type { AlertConfigResult } from "./settings.ts";

/** The outside of the alert monitor: its tables, settings and inputs, D1, webhooks and the clock. */
export interface Platform extends FactSources {
  readonly state: MonitorState;
  readonly config: AlertConfigResult;
  /** The admin tokens. */
  readonly tokens: readonly TokenFacts[];
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
  /** Saves evaluations to D1. Idempotent. Throws if D1 fails. */
  readonly saveRuns: (runs: readonly AlertRun[]) => Promise<void>;
  /** Deletes rows past their retention. Throws if D1 fails. */
  readonly deleteOldRuns: () => Promise<unknown>;
  readonly fetch: WebhookFetch;
  readonly deliveryLimits: DeliveryLimits;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  readonly workerVersion: string | null;
}

/** The part of the platform's `fetch` that webhooks need. */
type WebhookFetch = (
  url: string,
  init: {
    readonly method: "POST" | "GET";
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

export interface DeliveryLimits {
  /** Deadline for the beginning of an answer. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  /** Wait before the second attempt. It doubles for each further attempt. */
  readonly backoffMs: number;
}
