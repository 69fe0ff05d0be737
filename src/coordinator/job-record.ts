/** The fields of every job. Pure: no clock, no I/O. */

/** A job as operators see it. Times are RFC 3339, UTC, with milliseconds. */
export interface Job {
  /** UUIDv7. */
  readonly id: string;
  /** `queued` or `running`; any other state is final. */
  readonly state: string;
  readonly stage: string | null;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly heartbeat_at: string | null;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  /** The request to cancel it; absent for jobs that nobody can cancel. */
  readonly cancellation?: Cancellation | null;
}

/** A request to cancel a job. */
export interface Cancellation {
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  readonly note: string | null;
}

/** A job with the coordinator's internal fields. Times are milliseconds since 1970. */
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
  readonly notBefore: number | null;
  /** Whether a pause stops it. */
  readonly isPausable: boolean;
  /** Whether it leaves ingestion paused. */
  readonly leavesPause: boolean;
  /**
   * Whether the coordinator has recorded its version as published. From then on nothing pauses,
   * cancels or fails the job, and the engine repeats its steps until they succeed.
   */
  readonly isCommitted: boolean;
}

/** Makes the record of a queued job. */
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

/** Ends a job. `at` is RFC 3339. */
export function endRecord<R extends JobRecord>(
  record: R,
  { state, at, patch }: { readonly state: string; readonly at: string; readonly patch?: object },
): R {
  const duration = Date.parse(at) - Date.parse(record.job.started_at ?? at);
  const job = { ...record.job, ...patch, state, finished_at: at, duration_ms: duration };
  return { ...record, job, notBefore: null };
}

/** Whether an attempt at a step has begun and not ended: it is under way, or its instance died. */
export function isInStep({ attempts, notBefore }: JobRecord): boolean {
  return attempts > 0 && notBefore === null;
}

/** Whether somebody has asked to cancel a job. */
export function isCancelled({ cancellation }: Job): boolean {
  return cancellation !== undefined && cancellation !== null;
}

/** Whether a job in this state is unfinished. */
export function isOpen(state: string): boolean {
  return state === "queued" || state === "running";
}
