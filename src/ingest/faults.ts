import { PassingError, SourceError } from "../sources/source-error.ts";
import type { GuardTrip } from "./guards.ts";
import type { RunError, Stage } from "./run.ts";

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
  readonly trips: readonly GuardTrip[];

  constructor(trips: readonly GuardTrip[]) {
    super(
      trips[0]?.guard ?? "guard",
      trips.map(({ guard, message }) => `${guard}: ${message}`).join("; "),
    );
    this.trips = trips;
  }
}

/** A run's error, and what else is to be known of it. */
export interface RunFailure {
  readonly error: RunError;
  /** Whether the step is worth repeating, and after that the run. */
  readonly mayPass: boolean;
  readonly guards: readonly GuardTrip[];
}

/**
 * The one map from what a step throws to a run's failure. Faults of upstream's content and guards
 * are final; upstream out of reach, and a store that refuses or lags, may pass.
 */
export function toFailure(cause: unknown, stage: Stage): RunFailure {
  if (cause instanceof SourceError)
    return {
      error: { code: `source_${cause.fault}`, stage, message: cause.message },
      mayPass: cause instanceof PassingError,
      guards: [],
    };
  if (cause instanceof RunFault)
    return {
      error: { code: cause.code, stage, message: cause.message },
      mayPass: false,
      guards: cause instanceof GuardsTripped ? cause.trips : [],
    };
  const error = { code: "store_fault", stage, message: String(cause) };
  return { error, mayPass: true, guards: [] };
}
