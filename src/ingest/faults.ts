import { PassingError, SourceError } from "../sources/source-error.ts";
import type { StepNeverEnded } from "../jobs/engine.ts";
import { StoreError } from "../storage/store-error.ts";
import type { GuardTrip } from "./guards.ts";
import type { Run, RunError, Stage } from "./run.ts";

/** Why a run cannot go on, whatever is tried again. */
export class RunFault extends Error {
  override readonly name: string = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Guards that refuse a candidate: final, until an operator forces it or upstream is mended. */
export class GuardsTripped extends RunFault {
  override readonly name = "GuardsTripped";
  /** What the run knows of the candidate: its counts, and all that the guards say of it. */
  readonly verdict: Partial<Run>;

  constructor(refused: readonly GuardTrip[], verdict: Partial<Run>) {
    super(
      refused[0]?.guard ?? "guard",
      refused.map(({ guard, message }) => `${guard}: ${message}`).join("; "),
    );
    this.verdict = verdict;
  }
}

/** What is worth trying again: the step some times, and then the run once. */
export interface Retry {
  /** False where the step has made its attempts itself. */
  readonly step: boolean;
  /** How long to wait before the second try of the run; null if there is to be none. */
  readonly runAfterMs: number | null;
}

/** How long a run that failed by a store, or whose step never ended, waits for its second try. */
export const RUN_RETRY_MS = 60_000;
/** Longest that upstream may ask to be left alone if the run is to be tried again. */
export const RUN_RETRY_MAX_MS = 3_600_000;

/** A run's error, and what else the run is to show. */
export interface RunFailure {
  readonly error: RunError;
  /** How the fault may pass; null if it will not. */
  readonly retry: Retry | null;
  readonly patch: Partial<Run>;
}

/**
 * The one map from what a step throws to a run's failure. Faults of upstream's content and guards
 * are final; upstream out of reach, which is asked several times in one step, and a store that
 * refuses or lags, may pass. What nobody knows is a bug, or the platform's, which throws what it
 * likes: the step is repeated, and the run is not.
 */
export function toFailure(cause: unknown, stage: Stage): RunFailure {
  if (cause instanceof PassingError) return unreachable(cause, stage);
  if (cause instanceof SourceError)
    return {
      error: { code: `source_${cause.fault}`, stage, message: cause.message },
      retry: null,
      patch: {},
    };
  if (cause instanceof RunFault)
    return {
      error: { code: cause.code, stage, message: cause.message },
      retry: null,
      patch: cause instanceof GuardsTripped ? cause.verdict : {},
    };
  if (cause instanceof StoreError)
    return {
      error: { code: "store_fault", stage, message: cause.message },
      retry: { step: true, runAfterMs: RUN_RETRY_MS },
      patch: {},
    };
  return {
    error: { code: "internal", stage, message: String(cause) },
    retry: { step: true, runAfterMs: null },
    patch: {},
  };
}

/** The second try comes when upstream wants to be asked again, unless that is too long. */
function unreachable({ fault, message, retryAfterMs }: PassingError, stage: Stage): RunFailure {
  const waitMs = Math.max(retryAfterMs ?? 0, RUN_RETRY_MS);
  const isTooLong = waitMs > RUN_RETRY_MAX_MS;
  const text = isTooLong ? `${message}; over an hour, so the run is not tried again` : message;
  return {
    error: { code: `source_${fault}`, stage, message: text },
    retry: isTooLong ? null : { step: false, runAfterMs: waitMs },
    patch: {},
  };
}

/** The failure of a run one of whose steps never ended. */
export function leaseExpired(stage: Stage, { message }: StepNeverEnded): RunFailure {
  const error = { code: "lease_expired", stage, message };
  return { error, retry: { step: false, runAfterMs: RUN_RETRY_MS }, patch: {} };
}
