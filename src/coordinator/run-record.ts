/** How the coordinator records ingest runs, and how a request becomes one. */
import { FIRST_INGEST_CHECKPOINT, type IngestCheckpoint } from "../ingest/checkpoint.ts";
import type { UpstreamFiles } from "../schemas/run-report.ts";
import type { RunMode, Stage } from "../schemas/run-words.ts";
import type { ArchivedCandidate } from "../ingest/step.ts";
import { isOpen, type JobRecord, newRecord } from "./jobs.ts";
import { timeText } from "../platform/time.ts";
import type { Day, EpochMs } from "../platform/units.ts";
import type { Run, RunTrigger } from "../schemas/run.ts";

export const INGEST = "ingest";

export type RunRecord = JobRecord<Run, IngestCheckpoint>;

export function isRun(record: JobRecord): record is RunRecord {
  return record.work === INGEST;
}

/** The stage of a run's next step. Once its version is recorded, only the replication is left. */
export function stageOf({ checkpoint, isCommitted }: RunRecord): Stage {
  return isCommitted ? "verify" : checkpoint.stage;
}

export interface EnqueueRequest {
  readonly trigger: RunTrigger;
  readonly mode: RunMode;
  /** Name of an upstream; null for the configured one. */
  readonly source: string | null;
  readonly as_of?: Day;
  /** Archived files of that source to build from; null to fetch from upstream. */
  readonly candidate: ArchivedCandidate | null;
  readonly forced: boolean;
  readonly requested_by: string;
  readonly note: string | null;
  /** Whether the run waits for the end of a pause, or the request fails. */
  readonly ifPaused: "queue" | "reject";
  /** Equal for all repetitions of a request; null if it has no key. */
  readonly idempotencyKey: string | null;
}

/** Makes the request for a usual run of the configured source, which waits for the end of a pause. */
export function plainRun(
  fields: Pick<EnqueueRequest, "trigger" | "requested_by" | "note"> &
    Partial<Pick<EnqueueRequest, "idempotencyKey">>,
): EnqueueRequest {
  return {
    mode: "incremental",
    source: null,
    candidate: null,
    forced: false,
    ifPaused: "queue",
    idempotencyKey: null,
    ...fields,
  };
}

export interface NewRun {
  readonly newId: () => string;
  readonly now: () => EpochMs;
  readonly source: string;
  readonly workerVersion: string | null;
}

export function newRun(
  { newId, now, source, workerVersion }: NewRun,
  request: EnqueueRequest,
): RunRecord {
  const run: Run = {
    id: newId(),
    state: "queued",
    outcome: null,
    trigger: request.trigger,
    mode: request.mode,
    source: request.source ?? source,
    ...(request.as_of !== undefined && { as_of: request.as_of }),
    forced: request.forced,
    requested_by: request.requested_by,
    note: request.note,
    attempt: 1,
    parent_run_id: null,
    candidate_of: request.candidate?.runId ?? null,
    cancellation: null,
    retries: 0,
    queued_at: timeText(now()),
    started_at: null,
    heartbeat_at: null,
    finished_at: null,
    duration_ms: null,
    stage: null,
    progress: { done: 0, total: 0 },
    skipped_reason: null,
    skip_count: 0,
    upstream: request.candidate?.upstream ?? {},
    counts: null,
    changes: null,
    accounting: null,
    held: null,
    rejects: [],
    rejects_total: 0,
    guards: [],
    generation_before: null,
    generation_after: null,
    catalog_sha256: null,
    error: null,
    worker_version: workerVersion,
  };
  return newRecord({
    work: INGEST,
    job: run,
    checkpoint: FIRST_INGEST_CHECKPOINT,
    key: request.idempotencyKey,
    isPausable: true,
  });
}

/**
 * Makes the retry of a run that failed with a transient fault. Returns null
 *
 * - if the run is a retry itself,
 * - if it is forced and fetches from upstream, because a retry would publish data that nobody has seen,
 * - if an equivalent run is waiting, which serves as the retry.
 *
 * A full queue accepts a retry, because no caller could repeat the request later. Only the running run
 * can fail, so that at most one run waits beyond QUEUE_MAX_DEPTH.
 */
export function retryOf(
  failed: RunRecord,
  waiting: readonly RunRecord[],
  made: NewRun,
): RunRecord | null {
  const { job: run } = failed;
  const isUnseen = run.forced && run.candidate_of === null;
  if (run.attempt > 1 || isUnseen || waiting.some((other) => isEquivalent(other.job, run)))
    return null;
  const candidate = candidateOf(run);
  const request: EnqueueRequest = { ...run, candidate, ...OF_RETRIES };
  const record = newRun(made, request);
  const retry: Run = { ...record.job, attempt: run.attempt + 1, parent_run_id: run.id };
  return { ...record, job: retry };
}

const OF_RETRIES = { trigger: "retry", ifPaused: "queue", idempotencyKey: null } as const;

/** Whether one of two runs makes the other unnecessary. */
export function isEquivalent(a: Run, b: Run): boolean {
  const isSameCatalog = a.source === b.source && a.candidate_of === b.candidate_of;
  return isSameCatalog && a.as_of === b.as_of && a.mode === b.mode && a.forced === b.forced;
}

/** Number of refused runs with archived upstream files, so that operators can approve them. */
export const REFUSED_KEPT = 5;

/** Returns the candidate that a run builds from; null if it fetches from upstream. */
export function candidateOf({ candidate_of: runId, upstream }: Run): ArchivedCandidate | null {
  return runId === null ? null : { runId, upstream };
}

/**
 * Lists the archived files that are still candidates: those of unfinished runs and of the newest
 * refused runs.
 *
 * @param runs newest first.
 */
export function candidateFiles(runs: readonly Run[]): UpstreamFiles[] {
  const open = runs.filter(({ state }) => isOpen(state));
  const refused = runs.filter(isRefused).slice(0, REFUSED_KEPT);
  return [...open, ...refused].map(({ upstream }) => upstream);
}

/** Whether guards have refused the candidate of a run. */
function isRefused({ state, error }: Run): boolean {
  return state === "failed" && error?.stage === "guard" && error.code.startsWith("guard");
}
