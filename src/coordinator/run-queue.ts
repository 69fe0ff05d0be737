/** Queues ingest runs. Pure: no clock, no I/O; ids and times are arguments. */
import * as z from "zod";
import { count, type DeepReadonly } from "../catalog/fields.ts";
import { type Pause, unlessEnded } from "./pause.ts";
import {
  inStartingOrder,
  isOpen,
  type JobRecord,
  newRecord,
  type Queue,
  stepTime,
} from "./jobs.ts";
import { timeText } from "../storage/time.ts";
import { type IngestCheckpoint, FIRST_INGEST_CHECKPOINT } from "../ingest/checkpoint.ts";
import type { ArchivedCandidate } from "../ingest/step.ts";
import { type Run, runSchema, type RunTrigger, type SkipReason, toListed } from "./run.ts";
import type { RunMode, Stage, UpstreamFiles } from "../ingest/report.ts";

/** Name of the work that ingests. */
export const INGEST = "ingest";

/** A run with the coordinator's internal fields. */
export type RunRecord = JobRecord<Run, IngestCheckpoint>;

export function isRun(record: JobRecord): record is RunRecord {
  return record.work === INGEST;
}

/** The stage of a run's next step. After its publication only the replication is left. */
export function stageOf({ checkpoint, isCommitted }: RunRecord): Stage {
  return isCommitted ? "verify" : checkpoint.stage;
}

/** Most waiting runs, apart from a retry. */
export const QUEUE_MAX_DEPTH = 10;

export interface EnqueueRequest {
  readonly trigger: RunTrigger;
  readonly mode: RunMode;
  /** Name of an upstream; null for the configured one. */
  readonly source: string | null;
  /** Date of dropped files, `YYYY-MM-DD`. */
  readonly as_of?: string;
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
  asked: Pick<EnqueueRequest, "trigger" | "requested_by" | "note"> &
    Partial<Pick<EnqueueRequest, "idempotencyKey">>,
): EnqueueRequest {
  return {
    mode: "incremental",
    source: null,
    candidate: null,
    forced: false,
    ifPaused: "queue",
    idempotencyKey: null,
    ...asked,
  };
}

/** A waiting run, as the API answers it. */
export const queuedRun = z
  .strictObject({
    will_start: z
      .union([
        z.enum(["now", "on_resume", "begun"]),
        z.templateLiteral(["after_job:", z.string()]),
        z.templateLiteral(["after_run:", z.string()]),
        z.templateLiteral(["at:", z.string()]),
      ])
      .meta({ description: "`after_…:` names a job or run, `at:` a time." }),
    queue_position: z.int().min(0).meta({
      description:
        "1 for the next run; 0 for one that has begun, as a repeated request may find it.",
    }),
    run: runSchema,
    message: z.string().meta({ description: "For people." }),
  })
  .meta({ id: "QueuedRun", description: "A waiting run, and when it starts." });

/** The answer to an accepted request. */
export const queueAnswer = queuedRun
  .extend({
    changed: z.boolean().meta({
      description: "False for the run of an earlier request: the same one, or one that waits.",
    }),
    queue_depth: count,
    paused: z.boolean(),
  })
  .meta({ id: "QueueAnswer", description: "The queued run, and when it starts." });

export type QueuedRun = DeepReadonly<z.output<typeof queuedRun>>;
export type QueueAnswer = DeepReadonly<z.output<typeof queueAnswer>>;

export type EnqueueResult =
  | { readonly ok: true; readonly answer: QueueAnswer }
  | { readonly ok: false; readonly reason: "paused"; readonly pause: Pause }
  | { readonly ok: false; readonly reason: "candidate_gone" }
  | { readonly ok: false; readonly reason: "queue_full"; readonly queue_depth: number };

/** The fields of a new run besides the request. */
export interface NewRun {
  readonly id: string;
  readonly at: string;
  readonly source: string;
  readonly workerVersion: string | null;
}

/** Makes the record of a queued run. */
export function newRun(
  { id, at, source, workerVersion }: NewRun,
  request: EnqueueRequest,
): RunRecord {
  const run: Run = {
    id,
    state: "queued",
    outcome: null,
    trigger: request.trigger,
    mode: request.mode,
    source,
    ...(request.as_of !== undefined && { as_of: request.as_of }),
    forced: request.forced,
    requested_by: request.requested_by,
    note: request.note,
    attempt: 1,
    parent_run_id: null,
    candidate_of: request.candidate?.runId ?? null,
    cancellation: null,
    retries: 0,
    queued_at: at,
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
 * - if it is forced and fetches from upstream: nobody has seen the data that a retry would publish,
 * - if an equivalent run is waiting, which serves as the retry.
 *
 * A full queue accepts a retry, because no caller could repeat the request later. Only the running
 * run can fail, so that at most one run waits beyond QUEUE_MAX_DEPTH.
 */
export function retryOf(
  failed: RunRecord,
  {
    made,
    waiting,
    notBefore,
  }: {
    readonly made: NewRun;
    readonly waiting: readonly RunRecord[];
    /** Milliseconds since 1970. */
    readonly notBefore: number;
  },
): RunRecord | null {
  const { job: run } = failed;
  const isUnseen = run.forced && run.candidate_of === null;
  if (run.attempt > 1 || isUnseen || waiting.some((other) => isEquivalent(other.job, run)))
    return null;
  const candidate = candidateOf(run);
  const request: EnqueueRequest = { ...run, candidate, ...OF_RETRIES };
  const record = newRun(made, request);
  const retry: Run = { ...record.job, attempt: run.attempt + 1, parent_run_id: run.id };
  return { ...record, job: retry, notBefore };
}

const OF_RETRIES = { trigger: "retry", ifPaused: "queue", idempotencyKey: null } as const;

/** When a request comes, and what it asks for besides the run. Times are milliseconds since 1970. */
interface Enqueuing extends Pick<EnqueueRequest, "ifPaused"> {
  /** The run of the request that this one repeats. */
  readonly earlier: RunRecord | undefined;
  readonly now: number;
}

/**
 * Decides on a request. The answer to a repeated one is the earlier run. If an equivalent run is
 * waiting, a request without a key shares it. A new run starts before retries that are not due yet.
 */
export function decideEnqueue(
  wanted: RunRecord,
  queue: Queue,
  { ifPaused, earlier, now }: Enqueuing,
): { readonly result: EnqueueResult; readonly add: RunRecord | null } {
  const waiting = queue.waiting.filter(isRun);
  if (earlier === undefined && queue.pause !== null && ifPaused === "reject")
    return { result: { ok: false, reason: "paused", pause: queue.pause }, add: null };
  const shared =
    wanted.key === null ? waiting.find(({ job }) => isEquivalent(job, wanted.job)) : undefined;
  const found = earlier ?? shared;
  if (found !== undefined)
    return {
      result: { ok: true, answer: answerFor(found, queue, { now, changed: false }) },
      add: null,
    };
  if (waiting.length >= QUEUE_MAX_DEPTH)
    return { result: { ok: false, reason: "queue_full", queue_depth: waiting.length }, add: null };
  const withWanted = { ...queue, waiting: inStartingOrder([...queue.waiting, wanted]) };
  const answer = answerFor(wanted, withWanted, { now, changed: true });
  return { result: { ok: true, answer }, add: wanted };
}

function answerFor(
  record: RunRecord,
  queue: Queue,
  { now, changed }: { readonly now: number; readonly changed: boolean },
): QueueAnswer {
  const { message, ...queued } = describeQueued(record, queue, now);
  return {
    ...queued,
    changed,
    queue_depth: queue.waiting.filter(isRun).length,
    paused: queue.pause !== null,
    message: `${changed ? "The run is queued." : "The same run was queued before."} ${message}`,
  };
}

/** Describes when each waiting run starts, in that order. */
export function describeQueue(queue: Queue, now: number): QueuedRun[] {
  const present = { ...queue, pause: unlessEnded(queue.pause, now) };
  return present.waiting.filter(isRun).map((record) => describeQueued(record, present, now));
}

function describeQueued(
  record: RunRecord,
  { running, waiting, pause }: Queue,
  now: number,
): QueuedRun {
  const run = toListed(record.job);
  const index = waiting.findIndex(({ job }) => job.id === run.id);
  if (index === -1)
    return { will_start: "begun", queue_position: 0, run, message: `Its state is ${run.state}.` };
  const paused = pause !== null;
  // An unlisted job takes only a moment.
  const before = [...running.toReversed(), ...waiting.slice(0, index)];
  const ahead = before.at(-1);
  const willPause = before.some(({ leavesPause }) => leavesPause);
  const start = startOf(ahead, { now, paused, willPause, notBefore: stepTime(record, now) });
  return { ...start, queue_position: waiting.slice(0, index).filter(isRun).length + 1, run };
}

/** Times are milliseconds since 1970. */
interface Obstacles {
  readonly now: number;
  readonly paused: boolean;
  /** Whether an earlier job leaves ingestion paused. */
  readonly willPause: boolean;
  /** Start time of a retry. */
  readonly notBefore: number;
}

function startOf(
  ahead: JobRecord | undefined,
  { now, paused, willPause, notBefore }: Obstacles,
): Pick<QueuedRun, "will_start" | "message"> {
  if (paused)
    return {
      will_start: "on_resume",
      message: "Ingestion is paused; the run starts after resume.",
    };
  if (ahead !== undefined) {
    const time = notBefore > now ? `, but not before ${timeText(notBefore)}` : "";
    const kind = isRun(ahead) ? "run" : "job";
    return {
      will_start: `after_${kind}:${ahead.job.id}`,
      message: `It starts after ${kind} ${ahead.job.id}${time}.${willPause ? RESTORE_PAUSES : ""}`,
    };
  }
  if (notBefore > now) {
    const at = timeText(notBefore);
    return { will_start: `at:${at}`, message: `It is a retry, which starts at ${at}.` };
  }
  return { will_start: "now", message: "It starts now." };
}

const RESTORE_PAUSES = " A restore before it pauses ingestion, so that it also waits for resume.";

function isEquivalent(a: Run, b: Run): boolean {
  const isSameCatalog = a.source === b.source && a.candidate_of === b.candidate_of;
  return isSameCatalog && a.as_of === b.as_of && a.mode === b.mode && a.forced === b.forced;
}

/** Returns the reason to skip a cron tick, or null to take it. */
export function decideTick(wanted: RunRecord, { waiting, pause }: Queue): SkipReason | null {
  if (pause !== null) return "paused";
  const runs = waiting.filter(isRun);
  if (runs.some(({ job }) => isEquivalent(job, wanted.job))) return "already_queued";
  return runs.length >= QUEUE_MAX_DEPTH ? "queue_full" : null;
}

/** Number of refused runs whose upstream files stay archived, so that people can approve them. */
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
