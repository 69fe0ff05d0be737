/** The order of the one queue. Pure: no clock, no I/O; times are milliseconds since 1970. */
import type { JobRecord } from "./job-record.ts";
import type { Pause } from "./pause.ts";

/** All open jobs, as a decision sees them. */
export interface Queue {
  /**
   * Under way, the last that began first: one at a time, but for an earlier one that a pause held
   * when the next began.
   */
  readonly running: readonly JobRecord[];
  /** In the order of their turns. */
  readonly waiting: readonly JobRecord[];
  readonly pause: Pause | null;
}

/** Orders open jobs. */
export function queueOf(open: readonly JobRecord[], pause: Pause | null): Queue {
  const isRunning = ({ job }: JobRecord) => job.state === "running";
  return {
    running: open.filter(isRunning).toSorted((a, b) => beganAt(b) - beganAt(a)),
    waiting: inTurn(open.filter((record) => !isRunning(record))),
    pause,
  };
}

function beganAt({ job }: JobRecord): number {
  return Date.parse(job.started_at ?? job.queued_at);
}

/**
 * Jobs that wait, in the order of their turns: that in which they were queued, where a second try
 * counts as queued when its time comes. So what is said of a job's turn stays true, however long
 * those before it take.
 */
export function inTurn<R extends JobRecord>(waiting: readonly R[]): R[] {
  return waiting.toSorted((a, b) => dueSince(a) - dueSince(b));
}

/** Since when, or from when on, a job that waits may start. */
export function dueSince({ job, notBefore }: JobRecord): number {
  return notBefore ?? Date.parse(job.queued_at);
}

/** Whether a pause holds a job. One that is to be cancelled only ends, and so it is not held. */
export function isHeld(record: JobRecord, pause: Pause | null): boolean {
  const isStoppable = record.isPausable && !record.isCommitted;
  return pause !== null && isStoppable && record.cancelRequestedBy === null;
}

/**
 * The job whose next step may be taken now: the one under way, or else the first that is due. So one
 * job is under way at a time, and none has to exclude another.
 */
export function nextToStep({ running, waiting, pause }: Queue, now: number): JobRecord | undefined {
  const underWay = running.find((record) => !isHeld(record, pause));
  if (underWay !== undefined) return stepTime(underWay, now) <= now ? underWay : undefined;
  return waiting.find((record) => !isHeld(record, pause) && (record.notBefore ?? 0) <= now);
}

/** When to look again; null if nothing is to be done. */
export function nextAlarm(
  queue: Queue,
  due: { readonly now: number; readonly others: readonly (number | null)[] },
): number | null {
  const times = [...due.others, ...stepTimes(queue, due.now)];
  if (queue.pause?.until) times.push(Date.parse(queue.pause.until));
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(due.now, Math.min(...known));
}

/** When the job under way may go on, or else when each that waits may begin. */
function stepTimes({ running, waiting, pause }: Queue, now: number): number[] {
  const underWay = running.find((record) => !isHeld(record, pause));
  if (underWay !== undefined) return [stepTime(underWay, now)];
  return waiting.flatMap((record) => (isHeld(record, pause) ? [] : [record.notBefore ?? now]));
}

/** When the next step of a job under way is due. A clock that was set back does not delay it. */
function stepTime({ notBefore }: JobRecord, now: number): number {
  return notBefore === null || notBefore > now + MAX_BACKOFF_MS ? now : notBefore;
}

const FIRST_BACKOFF_MS = 1_000;
/** Longest wait between two attempts at a step. */
export const MAX_BACKOFF_MS = 60_000;

/** How long to wait before the next attempt, after `attempts` have failed. */
export function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
