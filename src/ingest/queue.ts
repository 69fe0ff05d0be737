/** The rules of the queue. Pure: no clock, no I/O; ids and times are arguments. */
import { type ArchivedCandidate, candidateOf } from "./candidate.ts";
import type { Pause } from "./pause.ts";
import { FIRST_CHECKPOINT } from "./checkpoint.ts";
import type { RunRecord } from "./run-record.ts";
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

/** The queue as a decision sees it. */
export interface QueueView {
  /** Runs that wait, in the order of their turns. */
  readonly waiting: readonly RunRecord[];
  readonly running: RunRecord | undefined;
  readonly pause: Pause | null;
}

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
  return {
    run,
    checkpoint: FIRST_CHECKPOINT,
    stageSince: null,
    fence: 0,
    attempts: 0,
    leaseUntil: null,
    notBefore: null,
    cancelRequestedBy: null,
  };
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
  const { run } = failed;
  const isUnseen = run.forced && run.candidate_of === null;
  if (run.attempt > 1 || isUnseen || waiting.some((other) => doesTheSame(other.run, run)))
    return null;
  const candidate = candidateOf(run);
  const request: EnqueueRequest = { ...run, candidate, trigger: "retry", ifPaused: "queue" };
  const record = newRun(made, request);
  const retry: Run = { ...record.run, attempt: run.attempt + 1, parent_run_id: run.id };
  return { ...record, run: retry, notBefore };
}

/**
 * Runs that wait, in the order of their turns: that in which they were queued, where a second try
 * counts as queued when its time comes. So what is said of a run's turn stays true, however long
 * those before it take.
 */
export function inTurn(waiting: readonly RunRecord[]): RunRecord[] {
  return waiting.toSorted((a, b) => dueSince(a) - dueSince(b));
}

/** Since when, or from when on, a run that waits may start (milliseconds since 1970). */
export function dueSince({ run, notBefore }: RunRecord): number {
  return notBefore ?? Date.parse(run.queued_at);
}

/**
 * Decides what an enqueue comes to. A run that waits already and would do the same is the answer
 * itself: two callers who race make one run, and both get it. A new run takes its turn before second
 * tries whose time has not come.
 */
export function decideEnqueue(
  wanted: RunRecord,
  view: QueueView,
  asked: {
    readonly ifPaused: EnqueueRequest["ifPaused"];
    /** The job that comes before a new run; null if there is none. */
    readonly jobId: string | null;
    /** Milliseconds since 1970. */
    readonly now: number;
  },
): { readonly result: EnqueueResult; readonly add: RunRecord | null } {
  const { waiting, pause } = view;
  const { ifPaused, jobId, now } = asked;
  const accept = acceptIn(view, { jobId, now });
  const same = waiting.findIndex(({ run }) => doesTheSame(run, wanted.run));
  const found = waiting[same];
  if (pause !== null && ifPaused === "reject")
    return { result: { ok: false, reason: "paused", pause }, add: null };
  if (found !== undefined)
    return { result: accept(found, { index: same, queueDepth: waiting.length }, true), add: null };
  if (waiting.length >= QUEUE_MAX_DEPTH)
    return { result: { ok: false, reason: "queue_full", queueDepth: waiting.length }, add: null };
  const later = waiting.findIndex((record) => !isDue(record, now));
  const index = later === -1 ? waiting.length : later;
  const place = { index, queueDepth: waiting.length + 1 };
  return { result: accept(wanted, place, false), add: wanted };
}

/** Accepts a run at a place in a queue, and says when it starts. */
function acceptIn(
  { waiting, running, pause }: QueueView,
  obstacles: Pick<Obstacles, "jobId" | "now">,
) {
  const paused = pause !== null;
  return (
    { run, notBefore }: RunRecord,
    { index, queueDepth }: { readonly index: number; readonly queueDepth: number },
    coalesced: boolean,
  ): EnqueueResult => {
    const ahead = index === 0 ? running : waiting[index - 1];
    const start = startOf(ahead, { ...obstacles, paused, notBefore: notBefore ?? 0 });
    return {
      ok: true,
      answer: {
        disposition: coalesced ? "coalesced" : start.disposition,
        willStart: start.willStart,
        queuePosition: index + 1,
        queueDepth,
        paused,
        run,
        message: `${coalesced ? "The same run waits already." : "The run is queued."} ${start.message}`,
      },
    };
  };
}

/** Times are milliseconds since 1970. */
interface Obstacles {
  readonly now: number;
  readonly paused: boolean;
  readonly jobId: string | null;
  /** Until when a second try waits. */
  readonly notBefore: number;
}

function startOf(
  ahead: RunRecord | undefined,
  { now, paused, jobId, notBefore }: Obstacles,
): Pick<EnqueueAnswer, "disposition" | "willStart" | "message"> {
  if (paused)
    return {
      disposition: "queued_while_paused",
      willStart: "on_resume",
      message: "Ingestion is paused; it starts after resume.",
    };
  if (ahead !== undefined) {
    const time = notBefore > now ? `, and not before ${timeOf(notBefore)}` : "";
    return {
      disposition: "queued_behind_running",
      willStart: `after_run:${ahead.run.id}`,
      message: `It starts after run ${ahead.run.id}${time}.`,
    };
  }
  if (jobId !== null)
    return {
      disposition: "queued",
      willStart: `after_job:${jobId}`,
      message: `It starts after the job ${jobId} about backups.`,
    };
  if (notBefore > now) {
    const at = timeOf(notBefore);
    return {
      disposition: "queued",
      willStart: `at:${at}`,
      message: `It is a second try, which starts at ${at}.`,
    };
  }
  return { disposition: "queued", willStart: "now", message: "It starts now." };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function doesTheSame(a: Run, b: Run): boolean {
  const isSameCatalog = a.source === b.source && a.candidate_of === b.candidate_of;
  return isSameCatalog && a.mode === b.mode && a.forced === b.forced;
}

/** Why a cron tick is not taken; null if it is. */
export function decideTick(wanted: RunRecord, { waiting, pause }: QueueView): SkipReason | null {
  if (pause !== null) return "paused";
  const isWaiting = waiting.some(({ run }) => doesTheSame(run, wanted.run));
  if (isWaiting) return "already_queued";
  return waiting.length >= QUEUE_MAX_DEPTH ? "queue_full" : null;
}

/** The run whose next step may be taken now: the one under way, or else the first that is due. */
export function nextToStep(
  { running, waiting, pause }: QueueView,
  /** Milliseconds since 1970. */
  now: number,
): RunRecord | undefined {
  const record = running ?? waiting.find((each) => isDue(each, now));
  if (record === undefined || isHeld(record, pause)) return undefined;
  return isDue(record, now) ? record : undefined;
}

function isDue({ notBefore }: RunRecord, now: number): boolean {
  return (notBefore ?? 0) <= now;
}

/**
 * A pause holds every step but the last, which only brings the stores to what is published, and
 * that of a run which is to be cancelled, which only ends it.
 */
export function isHeld(record: RunRecord, pause: Pause | null): boolean {
  const goesOn = record.checkpoint.stage === "verify" || record.cancelRequestedBy !== null;
  return pause !== null && !goesOn;
}

/** When to look again, in milliseconds since 1970; null if nothing is to be done. */
export function nextAlarm(
  view: QueueView,
  due: {
    readonly now: number;
    readonly others: readonly (number | null)[];
  },
): number | null {
  const times = [...due.others, ...stepTimes(view, due.now)];
  if (view.pause?.until) times.push(Date.parse(view.pause.until));
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(due.now, Math.min(...known));
}

/**
 * When the run under way may go on, or else when each that waits may begin. A clock that was set back
 * must not let a repeated step wait for longer than its back-off.
 */
function stepTimes({ running, waiting, pause }: QueueView, now: number): number[] {
  if (running !== undefined)
    return isHeld(running, pause) ? [] : [Math.min(running.notBefore ?? now, now + MAX_BACKOFF_MS)];
  return pause === null ? waiting.map(({ notBefore }) => notBefore ?? now) : [];
}

/** Attempts at one step before its run fails. */
export const MAX_STEP_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 1_000;
/** Longest wait between two attempts. */
export const MAX_BACKOFF_MS = 60_000;

/** How long to wait before the next attempt, after `attempts` have failed. */
export function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
