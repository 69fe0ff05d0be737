import { durationOf, timeText } from "../platform/time.ts";
import { ForeignStores } from "../storage/ownership.ts";
import { type FailedStep, type StepCommit, StepNeverEnded, type Work } from "./engine.ts";
import { endRecord, FIRST_INGEST_WAIT_MAX_MS, isOpen, RETRY_MAX_MS } from "./jobs.ts";
import { adoptVersions, recordVersion, replicatePublished, VersionLost } from "./publishing.ts";
import { candidateOf, isRun, retryOf, type RunRecord, stageOf } from "./run-record.ts";
import { ledgerOf } from "../ingest/ledger-files.ts";
import { type IngestCheckpoint, parseAgain, parsedOf } from "../ingest/checkpoint.ts";
import type { IngestStepResult } from "../ingest/step.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { increased } from "../platform/ranges.ts";
import type { Run } from "../schemas/run.ts";
import { GuardsTripped, RunFault } from "../ingest/faults.ts";
import type { Report, RunError, RunOutcome } from "../schemas/run-report.ts";
import type { Stage } from "../schemas/run-words.ts";
import { TransientSourceError, SourceError } from "../sources/source-error.ts";
import { StoreError } from "../platform/deadline.ts";
import type { DurationMs } from "../platform/units.ts";

export class IngestWork implements Work<RunRecord> {
  readonly #platform: CoordinatorPlatform;

  constructor(platform: CoordinatorPlatform) {
    this.#platform = platform;
  }

  stageOf(record: RunRecord): Stage {
    return stageOf(record);
  }

  async step({ job: run, checkpoint, isCommitted }: RunRecord): Promise<StepCommit<RunRecord>> {
    const { state, pipeline, store, settingsProblem } = this.#platform;
    if (isCommitted) {
      await replicatePublished(this.#platform, run.generation_after ?? 0);
      return (record) => {
        const replicated = { ...this.#timed(record.job), error: null };
        return this.#finish(record, replicated, "published");
      };
    }
    if (settingsProblem !== null) throw new RunFault("bad_settings", settingsProblem);
    if (checkpoint.stage === "fetch") await store.checkOwner();
    await adoptVersions(state, store);
    const result = await pipeline.step(checkpoint, {
      mode: run.mode,
      forced: run.forced,
      source: run.source,
      as_of: run.as_of,
      current: state.currentVersion(),
      retained: state,
      runId: run.id,
      ledger: state.ledgerFiles(),
      decisions: state.decisions.list(),
      recorded: state.recordedTimes(),
      archived: state.values.get(`archived:${run.source}`) ?? {},
      candidate: candidateOf(run),
    });
    return (record) => this.#apply(record, result);
  }

  async faulted(
    record: RunRecord,
    cause: unknown,
    isLast: boolean,
  ): Promise<FailedStep<RunRecord>> {
    const failure = toFailure(cause, stageOf(record));
    const { error } = failure;
    const { code } = error;
    if (failure.retry?.step !== true || isLast)
      return { code, repeat: false, change: (current) => this.#fail(current, failure) };
    const retried = (run: Run): Run => ({
      ...this.#timed(run),
      error,
      retries: increased(run.retries),
    });
    const change = (current: RunRecord) => ({ ...current, job: retried(current.job) });
    return { code, repeat: true, change };
  }

  describe(run: Run) {
    const { id, trigger, outcome, stage, progress, generation_after, error } = run;
    return {
      run_id: id,
      trigger,
      outcome,
      progress,
      generation: generation_after,
      ...(stage === "parse" && {
        filtered: run.accounting?.filtered,
        rejects: run.rejects_total,
        ledger_lost: run.held?.ledger_lost,
      }),
      ...((stage === "guard" || !isOpen(run.state)) && { counts: run.counts }),
      ...(error && { stage: error.stage, error_code: error.code, error: error.message }),
    };
  }

  ended(): void {
    this.#platform.pipeline.forget();
  }

  #apply(record: RunRecord, { next, outcome, patch, publish }: IngestStepResult): RunRecord {
    const { state } = this.#platform;
    const run: Run = { ...this.#timed(record.job), error: null, ...patch };
    if (next !== null) return { ...record, job: run, checkpoint: next };
    if (publish === null) return this.#finish(record, run, outcome);
    // During a pause, the run stays at this step. It publishes after the resume.
    if (state.pause() !== null) return withoutError(record);
    const decided = state.decisions.list().at(-1)?.seq ?? 0;
    if (decided > parsedOf(record.checkpoint).lastDecision)
      return { ...record, job: run, checkpoint: parseAgain(record.checkpoint) };
    const { generation } = recordVersion(state, publish, { at: timeText(this.#platform.now()) });
    return { ...record, job: { ...run, generation_after: generation }, isCommitted: true };
  }

  #finish(record: RunRecord, run: Run, outcome: RunOutcome | null): RunRecord {
    const { state } = this.#platform;
    if (outcome !== "dry_run") {
      state.values.set(`archived:${run.source}`, run.upstream);
      // After a rollback in between, the ledger is that of the restored version.
      const compared = run.generation_after ?? run.generation_before;
      if (compared === state.currentVersion()?.generation) this.#recordLedger(record.checkpoint);
    }
    return this.#end({ ...record, job: run }, "succeeded", { outcome });
  }

  /** Records a run's ledger. Drops the approvals that it has applied. */
  #recordLedger({ sources, parsed }: IngestCheckpoint): void {
    const { state } = this.#platform;
    const files = ledgerOf(sources);
    if (files === null || parsed === null) return;
    state.recordLedger({ ...files, held_changes: parsed.held });
    state.decisions.deleteApproved(parsed.lastDecision);
  }

  /** Ends a run as failed. After a transient fault, queues its retry as a new run. */
  #fail(record: RunRecord, { error, retry, retryAfterMs, patch }: RunFailure): RunRecord {
    const { state, now } = this.#platform;
    if (retryAfterMs !== null)
      state.values.set(`retry_at:${record.job.source}`, now() + retryAfterMs);
    // Only a takeover by another installation fails a run that has published.
    if (record.isCommitted) state.withdraw(record.job.generation_after);
    if (retry?.runAfterMs != null) {
      const waiting = state.queue().waiting.filter(isRun);
      const next = retryOf(record, waiting, this.#platform);
      if (next !== null) state.save({ ...next, notBefore: now() + retry.runAfterMs });
    }
    const job = this.#timed(record.job);
    return this.#end({ ...record, job }, "failed", { ...patch, error });
  }

  /** Adds the time since the claim of the present step to its stage. */
  #timed(run: Run): Run {
    const { stage, heartbeat_at: claimed, stage_ms: before } = run;
    if (stage === null || claimed === null) return run;
    const took = durationOf(claimed, this.#platform.now());
    return { ...run, stage_ms: { ...before, [stage]: increased(before?.[stage] ?? 0, took) } };
  }

  #end(record: RunRecord, state: "succeeded" | "failed", patch: Partial<Run>): RunRecord {
    return endRecord(record, { state, at: timeText(this.#platform.now()), patch });
  }
}

function withoutError(record: RunRecord): RunRecord {
  return record.job.error === null ? record : { ...record, job: { ...record.job, error: null } };
}

/** The retries of a step, then of the run. */
interface Retry {
  /** False if the step must not be repeated so soon. */
  readonly step: boolean;
  /** Wait before the retry of the run; null for no retry. */
  readonly runAfterMs: DurationMs | null;
}

const RUN_RETRY_MS = 60_000;

/** The failure of a run: its error, its retry and other fields of the run. */
interface RunFailure {
  readonly error: RunError;
  /** Null for a permanent fault. */
  readonly retry: Retry | null;
  /** Upstream's requested wait; null if it requested none. */
  readonly retryAfterMs: DurationMs | null;
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
    retryAfterMs: null,
    patch,
  });
  if (cause instanceof TransientSourceError) return unreachable(cause, stage);
  if (cause instanceof SourceError) return fail(`source_${cause.fault}`, cause.message, null);
  if (cause instanceof GuardsTripped) return fail(cause.code, cause.message, null, cause.verdict);
  if (cause instanceof RunFault) return fail(cause.code, cause.message, null);
  if (cause instanceof VersionLost) return fail("version_lost", cause.message, null);
  if (cause instanceof ForeignStores)
    return fail("foreign_stores", cause.message, null, { generation_after: null });
  if (cause instanceof StoreError)
    return fail("store_fault", cause.message, { step: true, runAfterMs: RUN_RETRY_MS });
  if (cause instanceof StepNeverEnded)
    return fail("lease_expired", cause.message, { step: false, runAfterMs: RUN_RETRY_MS });
  return fail("internal", String(cause), { step: true, runAfterMs: null });
}

/** Retries the step. If upstream asks for a wait, retries only the run, unless the wait is too long. */
function unreachable(
  { fault, message, retryAfterMs }: TransientSourceError,
  stage: Stage,
): RunFailure {
  const waitMs = Math.max(retryAfterMs ?? 0, RUN_RETRY_MS);
  const isTooLong = waitMs > RETRY_MAX_MS;
  const text = isTooLong
    ? `${message}; the wait exceeds an hour, so the run is not retried`
    : message;
  return {
    error: { code: `source_${fault}`, stage, message: text },
    retry: isTooLong ? null : { step: retryAfterMs === null, runAfterMs: waitMs },
    retryAfterMs: retryAfterMs && Math.min(retryAfterMs, FIRST_INGEST_WAIT_MAX_MS),
    patch: {},
  };
}
