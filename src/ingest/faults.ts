import { PassingError, SourceError } from "../sources/source-error.ts";
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
  /** How long to wait before the run. */
  readonly afterMs: number;
}

const REPEAT_STEP: Retry = { step: true, afterMs: 0 };

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
 * refuses or lags, may pass.
 */
export function toFailure(cause: unknown, stage: Stage): RunFailure {
  if (cause instanceof SourceError)
    return {
      error: { code: `source_${cause.fault}`, stage, message: cause.message },
      retry:
        cause instanceof PassingError ? { step: false, afterMs: cause.retryAfterMs ?? 0 } : null,
      patch: {},
    };
  if (cause instanceof RunFault)
    return {
      error: { code: cause.code, stage, message: cause.message },
      retry: null,
      patch: cause instanceof GuardsTripped ? cause.verdict : {},
    };
  const error = { code: "store_fault", stage, message: String(cause) };
  return { error, retry: REPEAT_STEP, patch: {} };
}
