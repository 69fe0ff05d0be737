/** The order of the job queue. Pure: no clock, no I/O; times are milliseconds since 1970. */
import { isCancelled, type JobRecord } from "./job-record.ts";
import type { Pause } from "../ingest/pause.ts";

/** All open jobs, and the pause. */
export interface Queue {
  /**
   * Started jobs, the latest start first. There is at most one, apart from a run that was paused
   * when the next job started.
   */
  readonly running: readonly JobRecord[];
  /** In starting order. */
  readonly waiting: readonly JobRecord[];
  readonly pause: Pause | null;
}

/** Orders open jobs. */
export function queueOf(open: readonly JobRecord[], pause: Pause | null): Queue {
  const isRunning = ({ job }: JobRecord) => job.state === "running";
  return {
    running: open.filter(isRunning).toSorted((a, b) => beganAt(b) - beganAt(a)),
    waiting: inStartingOrder(open.filter((record) => !isRunning(record))),
    pause,
  };
}

function beganAt({ job }: JobRecord): number {
  return Date.parse(job.started_at ?? job.queued_at);
}

/**
 * Sorts waiting jobs by starting order: by the time of queueing, or for a retry by its start time.
 * An announced position therefore stays true, however long the earlier jobs take.
 */
export function inStartingOrder<R extends JobRecord>(waiting: readonly R[]): R[] {
  return waiting.toSorted((a, b) => dueSince(a) - dueSince(b));
}

/** Earliest start of a waiting job. */
export function dueSince({ job, notBefore }: JobRecord): number {
  return notBefore ?? Date.parse(job.queued_at);
}

/** Whether a pause stops a job. It does not prevent a cancellation. */
function isStopped(record: JobRecord, pause: Pause | null): boolean {
  const isStoppable = record.isPausable && !record.isCommitted;
  return pause !== null && isStoppable && !isCancelled(record.job);
}

/**
 * Selects the job of the next step: the running one, or else the first that is due. Jobs therefore
 * run one at a time and need no locks against each other.
 */
export function nextToStep({ running, waiting, pause }: Queue, now: number): JobRecord | undefined {
  const active = running.find((record) => !isStopped(record, pause));
  if (active !== undefined) return stepTime(active, now) <= now ? active : undefined;
  return waiting.find((record) => !isStopped(record, pause) && stepTime(record, now) <= now);
}

/** Time of the next alarm; null if nothing is due. */
export function nextAlarm(
  queue: Queue,
  due: { readonly now: number; readonly others: readonly (number | null)[] },
): number | null {
  const times = [...due.others, ...stepTimes(queue, due.now)];
  if (queue.pause?.until) times.push(Date.parse(queue.pause.until));
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(due.now, Math.min(...known));
}

/** Time of the next step of the running job, or else the earliest start of each waiting job. */
function stepTimes({ running, waiting, pause }: Queue, now: number): number[] {
  const active = running.find((record) => !isStopped(record, pause));
  if (active !== undefined) return [stepTime(active, now)];
  return waiting.flatMap((record) => (isStopped(record, pause) ? [] : [stepTime(record, now)]));
}

/** Time of the next step of a job. */
export function stepTime({ notBefore }: JobRecord, now: number): number {
  return notBefore ?? now;
}

const FIRST_BACKOFF_MS = 1_000;
/** Longest wait between two attempts at a step. */
const MAX_BACKOFF_MS = 60_000;

/** Returns the wait after `attempts` failed attempts. */
export function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
