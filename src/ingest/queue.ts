/** How runs come into the queue. Pure: no clock, no I/O; ids and times are arguments. */
import { type ArchivedCandidate, candidateOf } from "./candidate.ts";
import { type JobRecord, newRecord } from "../jobs/job-record.ts";
import type { Pause } from "../jobs/pause.ts";
import { inTurn, type Queue } from "../jobs/queue.ts";
import { timeText } from "../storage/time-text.ts";
import { FIRST_CHECKPOINT } from "./checkpoint.ts";
import { INGEST, isRun, type RunRecord } from "./run-record.ts";
import type { Run, RunMode, RunTrigger, SkipReason } from "./run.ts";

/** Runs that may wait at a time, but for a second try. */
export const QUEUE_MAX_DEPTH = 10;

/** What a caller asks for. */
export interface EnqueueRequest {
  readonly trigger: RunTrigger;
  readonly mode: RunMode;
  /** Name of an upstream; null for the configured one. */
  readonly source: string | null;
  /** Archived files to work from, which are of that source; null to ask upstream. */
  readonly candidate: ArchivedCandidate | null;
  readonly forced: boolean;
  readonly requested_by: string;
  readonly note: string | null;
  /** Whether to wait for the end of a pause, or to be refused. */
  readonly ifPaused: "queue" | "reject";
}

/** What will happen to an accepted request: the truth, also when the run is an earlier one. */
export interface EnqueueAnswer {
  readonly disposition: "queued" | "queued_behind_running" | "queued_while_paused" | "coalesced";
  /** `at:` is followed by the time of a second try (RFC 3339). */
  readonly willStart:
    "now" | "on_resume" | `after_job:${string}` | `after_run:${string}` | `at:${string}`;
  /** 1 for the run that is next. */
  readonly queuePosition: number;
  readonly queueDepth: number;
  readonly paused: boolean;
  readonly run: Run;
  readonly message: string;
}

export type EnqueueResult =
  | { readonly ok: true; readonly answer: EnqueueAnswer }
  | { readonly ok: false; readonly reason: "paused"; readonly pause: Pause }
  | { readonly ok: false; readonly reason: "candidate_gone" }
  | { readonly ok: false; readonly reason: "queue_full"; readonly queueDepth: number };

/** What a new run is made of, besides the request. */
export interface NewRun {
  readonly id: string;
  readonly at: string;
  readonly source: string;
  readonly workerVersion: string | null;
}

/** A run that waits for its turn. */
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
    forced: request.forced,
    requested_by: request.requested_by,
    note: request.note,
    attempt: 1,
    parent_run_id: null,
    candidate_of: request.candidate?.runId ?? null,
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
    rejects: [],
    rejects_total: 0,
    guards: [],
    generation_before: null,
    generation_after: null,
    catalog_sha256: null,
    error: null,
    worker_version: workerVersion,
  };
  return newRecord({ work: INGEST, job: run, checkpoint: FIRST_CHECKPOINT, isPausable: true });
}

/**
 * The second try of a run that failed by a fault that may pass, from `notBefore` on. Null for a
 * second try, for a forced run that asks upstream, since nobody has looked at what upstream says by
 * then, and where a run that would do the same waits already: that one is the second try.
 *
 * It is taken into a full queue, too, since nobody can be told to ask again later. The run under way
 * alone can fail, so that no more than one run waits beyond QUEUE_MAX_DEPTH.
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
  if (run.attempt > 1 || isUnseen || waiting.some((other) => doesTheSame(other.job, run)))
    return null;
  const candidate = candidateOf(run);
  const request: EnqueueRequest = { ...run, candidate, trigger: "retry", ifPaused: "queue" };
  const record = newRun(made, request);
  const retry: Run = { ...record.job, attempt: run.attempt + 1, parent_run_id: run.id };
  return { ...record, job: retry, notBefore };
}

/**
 * Decides what an enqueue comes to. A run that waits already and would do the same is the answer
 * itself: two callers who race make one run, and both get it. A new run takes its turn before second
 * tries whose time has not come.
 *
 * @param now milliseconds since 1970.
 */
export function decideEnqueue(
  wanted: RunRecord,
  queue: Queue,
  { ifPaused, now }: { readonly ifPaused: EnqueueRequest["ifPaused"]; readonly now: number },
): { readonly result: EnqueueResult; readonly add: RunRecord | null } {
  const waiting = queue.waiting.filter(isRun);
  if (queue.pause !== null && ifPaused === "reject")
    return { result: { ok: false, reason: "paused", pause: queue.pause }, add: null };
  const found = waiting.find(({ job }) => doesTheSame(job, wanted.job));
  if (found !== undefined)
    return { result: { ok: true, answer: answerFor(found, queue, now, true) }, add: null };
  if (waiting.length >= QUEUE_MAX_DEPTH)
    return { result: { ok: false, reason: "queue_full", queueDepth: waiting.length }, add: null };
  const withWanted = { ...queue, waiting: inTurn([...queue.waiting, wanted]) };
  return { result: { ok: true, answer: answerFor(wanted, withWanted, now, false) }, add: wanted };
}

/** Says of a run that waits in a queue when it starts. */
function answerFor(
  record: RunRecord,
  { running, waiting, pause }: Queue,
  now: number,
  coalesced: boolean,
): EnqueueAnswer {
  const paused = pause !== null;
  const runs = waiting.filter(isRun);
  // What people cannot look up takes a moment only.
  const before = [...running.toReversed(), ...waiting.slice(0, waiting.indexOf(record))];
  const ahead = before.findLast(({ isListed }) => isListed);
  const start = startOf(ahead, { now, paused, notBefore: record.notBefore ?? 0 });
  return {
    disposition: coalesced ? "coalesced" : start.disposition,
    willStart: start.willStart,
    queuePosition: runs.indexOf(record) + 1,
    queueDepth: runs.length,
    paused,
    run: record.job,
    message: `${coalesced ? "The same run waits already." : "The run is queued."} ${start.message}`,
  };
}

/** Times are milliseconds since 1970. */
interface Obstacles {
  readonly now: number;
  readonly paused: boolean;
  /** Until when a second try waits. */
  readonly notBefore: number;
}

function startOf(
  ahead: JobRecord | undefined,
  { now, paused, notBefore }: Obstacles,
): Pick<EnqueueAnswer, "disposition" | "willStart" | "message"> {
  if (paused)
    return {
      disposition: "queued_while_paused",
      willStart: "on_resume",
      message: "Ingestion is paused; it starts after resume.",
    };
  if (ahead !== undefined) {
    const time = notBefore > now ? `, and not before ${timeText(notBefore)}` : "";
    const kind = isRun(ahead) ? "run" : "job";
    return {
      disposition: isRun(ahead) ? "queued_behind_running" : "queued",
      willStart: `after_${kind}:${ahead.job.id}`,
      message: `It starts after ${kind} ${ahead.job.id}${time}.`,
    };
  }
  if (notBefore > now) {
    const at = timeText(notBefore);
    return {
      disposition: "queued",
      willStart: `at:${at}`,
      message: `It is a second try, which starts at ${at}.`,
    };
  }
  return { disposition: "queued", willStart: "now", message: "It starts now." };
}

function doesTheSame(a: Run, b: Run): boolean {
  const isSameCatalog = a.source === b.source && a.candidate_of === b.candidate_of;
  return isSameCatalog && a.mode === b.mode && a.forced === b.forced;
}

/** Why a cron tick is not taken; null if it is. */
export function decideTick(wanted: RunRecord, { waiting, pause }: Queue): SkipReason | null {
  if (pause !== null) return "paused";
  const runs = waiting.filter(isRun);
  if (runs.some(({ job }) => doesTheSame(job, wanted.job))) return "already_queued";
  return runs.length >= QUEUE_MAX_DEPTH ? "queue_full" : null;
}
