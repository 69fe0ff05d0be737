import { SourceError } from "../sources/source-error.ts";
import type { RunError, Stage } from "./run.ts";

/** Why a run cannot go on, whatever is tried again. */
export class RunFault extends Error {
  override readonly name = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The one map from what a step throws to a run's error. Faults of upstream bytes and guards are
 * final; anything else (a store that refuses or lags) may pass, and the step is worth repeating.
 */
export function toRunError(error: unknown, stage: Stage): RunError & { retryable: boolean } {
  if (error instanceof SourceError)
    return { code: `source_${error.fault}`, stage, message: error.message, retryable: false };
  if (error instanceof RunFault)
    return { code: error.code, stage, message: error.message, retryable: false };
  return { code: "store_fault", stage, message: String(error), retryable: true };
}
