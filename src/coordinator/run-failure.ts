import { GuardsTripped, RunFault } from "../ingest/faults.ts";
import type { Report, RunError, Stage } from "../ingest/report.ts";
import { PassingError, SourceError } from "../sources/source-error.ts";
import { ForeignStores } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/deadline.ts";
import type { StepNeverEnded } from "./engine.ts";

/** What to retry: the step several times, then the run once. */
interface Retry {
  /** False if the step must not begin again so soon. */
  readonly step: boolean;
  /** Wait before the retry of the run; null for no retry. */
  readonly runAfterMs: number | null;
}

/** Shortest wait before the retry of a run. */
const RUN_RETRY_MS = 60_000;
/** Longest wait for which upstream may ask. */
const RETRY_MAX_MS = 3_600_000;

/** The failure of a run: its error, its retry and other fields of the run. */
export interface RunFailure {
  readonly error: RunError;
  /** Null for a permanent fault. */
  readonly retry: Retry | null;
  readonly patch: Partial<Report>;
}

/**
 * The only map from the errors of a step to the failure of a run. Faults of upstream's content and
 * tripped guards are permanent. An unreachable upstream and a failing or lagging store are
 * transient. Any other error is a bug or comes from the platform, which throws errors of any kind:
 * the engine repeats the step, and the run has no retry.
 */
export function toFailure(cause: unknown, stage: Stage): RunFailure {
  const fail = (
    code: string,
    message: string,
    retry: Retry | null,
    patch: Partial<Report> = {},
  ) => ({
    error: { code, stage, message },
    retry,
    patch,
  });
  if (cause instanceof PassingError) return unreachable(cause, stage);
  if (cause instanceof SourceError) return fail(`source_${cause.fault}`, cause.message, null);
  if (cause instanceof GuardsTripped) return fail(cause.code, cause.message, null, cause.verdict);
  if (cause instanceof RunFault) return fail(cause.code, cause.message, null);
  if (cause instanceof ForeignStores)
    return fail("foreign_stores", cause.message, null, { generation_after: null });
  if (cause instanceof StoreError)
    return fail("store_fault", cause.message, { step: true, runAfterMs: RUN_RETRY_MS });
  return fail("internal", String(cause), { step: true, runAfterMs: null });
}

/**
 * Retries the step. If upstream asks for a wait, retries only the run, not before that time, unless
 * the wait is too long.
 */
function unreachable({ fault, message, retryAfterMs }: PassingError, stage: Stage): RunFailure {
  const waitMs = Math.max(retryAfterMs ?? 0, RUN_RETRY_MS);
  const isTooLong = waitMs > RETRY_MAX_MS;
  const text = isTooLong
    ? `${message}; the wait exceeds an hour, so the run is not retried`
    : message;
  return {
    error: { code: `source_${fault}`, stage, message: text },
    retry: isTooLong ? null : { step: retryAfterMs === null, runAfterMs: waitMs },
    patch: {},
  };
}

/** Makes the failure of a run from a step that never finished. */
export function leaseExpired(stage: Stage, { message }: StepNeverEnded): RunFailure {
  const error = { code: "lease_expired", stage, message };
  return { error, retry: { step: false, runAfterMs: RUN_RETRY_MS }, patch: {} };
}
