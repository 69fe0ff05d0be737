/** Jobs, and the order in which they run. Pure: no clock, no I/O. */
import { durationOf, HOUR_MS } from "../platform/time.ts";
import type { DurationMs, EpochMs, Instant } from "../platform/units.ts";
import type { Pause } from "../schemas/pause.ts";

/** The visible fields of a job. */
interface Job {
  readonly id: string;
  /** `queued` or `running`; any other state is final. */
  readonly state: string;
  readonly stage: string | null;
  readonly queued_at: Instant;
  readonly started_at: Instant | null;
  readonly heartbeat_at: Instant | null;
  readonly finished_at: Instant | null;
  readonly duration_ms: DurationMs | null;
  /** The request to cancel it; absent for jobs that nobody can cancel. */
  readonly cancellation?: Cancellation | null;
}

export interface Cancellation {
  readonly by: string;
  readonly at: Instant;
  readonly note: string | null;
}

/** A job with the coordinator's internal fields. */
export interface JobRecord<J extends Job = Job, C = unknown> {
  /** Name of the work that runs it. */
  readonly work: string;
  readonly job: J;
  /** State of the work between two steps; JSON. */
  readonly checkpoint: C;
  /** Equal for all repetitions of its request; null if that has no key. */
  readonly key: string | null;
  /** Attempts at the present step. */
  readonly attempts: number;
  /** Earliest time of the next attempt; null for at once. */
  readonly notBefore: EpochMs | null;
  /** Whether a pause holds it until it is committed. */
  readonly isPausable: boolean;
  /** Whether it leaves ingestion paused. */
  readonly leavesPause: boolean;
  /**
   * Whether the coordinator has recorded its version as published. From then on nothing pauses or
   * cancels the job, and the engine repeats its steps until they succeed or another installation owns
   * the stores.
   */
  readonly isCommitted: boolean;
}

export function newRecord<J extends Job, C>(
  made: Pick<JobRecord<J, C>, "work" | "job" | "checkpoint"> &
    Partial<Pick<JobRecord, "key" | "isPausable" | "leavesPause">>,
): JobRecord<J, C> {
  return {
    key: null,
    attempts: 0,
    notBefore: null,
    isPausable: false,
    leavesPause: false,
    isCommitted: false,
    ...made,
  };
}

export function endRecord<R extends JobRecord>(
  record: R,
  { state, at, patch }: { readonly state: string; readonly at: Instant; readonly patch?: object },
): R {
  const duration = durationOf(record.job.started_at ?? at, at);
  const job = { ...record.job, ...patch, state, finished_at: at, duration_ms: duration };
  return { ...record, job, notBefore: null };
}

export function isCancelled({ cancellation }: Job): boolean {
  return cancellation !== undefined && cancellation !== null;
}

export function isOpen(state: string): boolean {
  return state === "queued" || state === "running";
}

export interface Queue {
  /**
   * Started jobs. There is at most one, apart from a run that was paused when the next job started;
   * it comes last.
   */
  readonly running: readonly JobRecord[];
  /** In starting order. */
  readonly waiting: readonly JobRecord[];
  readonly pause: Pause | null;
}

export function queueOf(open: readonly JobRecord[], pause: Pause | null): Queue {
  const isRunning = ({ job }: JobRecord) => job.state === "running";
  return {
    running: open.filter(isRunning).toSorted((a, b) => Number(a.isPausable) - Number(b.isPausable)),
    waiting: inStartingOrder(open.filter((record) => !isRunning(record))),
    pause,
  };
}

/**
 * Sorts waiting jobs by starting order: by the time of queueing, or for a retry by its start time.
 * An announced position therefore stays true, however long the earlier jobs take.
 */
export function inStartingOrder<R extends JobRecord>(waiting: readonly R[]): R[] {
  return waiting.toSorted((a, b) => dueSince(a) - dueSince(b));
}

/** Earliest start of a waiting job. */
export function dueSince({ job, notBefore }: JobRecord): EpochMs {
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
export function nextToStep(queue: Queue, now: EpochMs): JobRecord | undefined {
  return candidatesOf(queue).find((record) => stepTime(record, now) <= now);
}

/** The jobs that may take the next step: the running one, or else those that wait. */
function candidatesOf({ running, waiting, pause }: Queue): readonly JobRecord[] {
  const active = running.find((record) => !isStopped(record, pause));
  return active ? [active] : waiting.filter((record) => !isStopped(record, pause));
}

/** Time of the next alarm; null if nothing is due. */
export function nextAlarm(
  queue: Queue,
  due: { readonly now: EpochMs; readonly others: readonly (EpochMs | null)[] },
): EpochMs | null {
  const steps = candidatesOf(queue).map((record) => stepTime(record, due.now));
  const times = [...due.others, ...steps];
  if (queue.pause?.until) times.push(Date.parse(queue.pause.until));
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(due.now, Math.min(...known));
}

const FIRST_BACKOFF_MS = 1_000;
/** Longest wait between two attempts at a step. */
const MAX_BACKOFF_MS = 60_000;
/** Longest wait of a retry for which upstream may ask. */
export const RETRY_MAX_MS = HOUR_MS;
/** Longest wait of another first ingest for which upstream may ask. */
export const FIRST_INGEST_WAIT_MAX_MS = 6 * HOUR_MS;

/** Time of the next step of a job; now if the stored time is further away than any wait. */
export function stepTime({ job, notBefore }: JobRecord, now: EpochMs): EpochMs {
  const maxMs = job.state === "running" ? MAX_BACKOFF_MS : RETRY_MAX_MS;
  return notBefore === null || notBefore > now + maxMs ? now : Math.max(now, notBefore);
}

/** Returns the wait after `attempts` failed attempts. */
export function backoffMs(attempts: number): DurationMs {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
