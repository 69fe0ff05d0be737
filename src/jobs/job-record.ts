/** What every job has, whatever does it. Pure: no clock, no I/O. */

/** A job as operators see it. Times are RFC 3339, UTC, with milliseconds. */
export interface Job {
  /** UUIDv7. */
  readonly id: string;
  /** `queued` and `running` may still change; any other state is the end. */
  readonly state: string;
  readonly stage: string | null;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly heartbeat_at: string | null;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
}

/** A job with what only the coordinator knows of it. Times are milliseconds since 1970. */
export interface JobRecord<J extends Job = Job, C = unknown> {
  /** Name of the work that does it. */
  readonly work: string;
  readonly job: J;
  /** Where the work stands between two steps; JSON. */
  readonly checkpoint: C;
  /** What the job was asked for, so that asking again finds it; null for a request by hand. */
  readonly key: string | null;
  /** When the present stage began; null before the first. */
  readonly stageSince: number | null;
  /** Rises with each claim of a step; a step commits only under the fence that it was given. */
  readonly fence: number;
  /** Attempts at the present step. */
  readonly attempts: number;
  /** Until when the present step is claimed; null between two steps. */
  readonly leaseUntil: number | null;
  /** When the present step may be tried again; null for at once. */
  readonly notBefore: number | null;
  readonly cancelRequestedBy: string | null;
  /** Whether people can look it up. */
  readonly isListed: boolean;
  /** Whether a pause holds it. */
  readonly isPausable: boolean;
  /**
   * Whether what it publishes is recorded: then nothing pauses, cancels or fails it any more, and its
   * steps are repeated until they succeed.
   */
  readonly isCommitted: boolean;
}

/** A job that waits for its turn. */
export function newRecord<J extends Job, C>(
  made: Pick<JobRecord<J, C>, "work" | "job" | "checkpoint"> &
    Partial<Pick<JobRecord, "key" | "isListed" | "isPausable">>,
): JobRecord<J, C> {
  return {
    key: null,
    stageSince: null,
    fence: 0,
    attempts: 0,
    leaseUntil: null,
    notBefore: null,
    cancelRequestedBy: null,
    isListed: true,
    isPausable: false,
    isCommitted: false,
    ...made,
  };
}

/** A job that is over. `at` is RFC 3339. */
export function endRecord<R extends JobRecord>(
  record: R,
  { state, at, patch }: { readonly state: string; readonly at: string; readonly patch?: object },
): R {
  const duration = Date.parse(at) - Date.parse(record.job.started_at ?? at);
  const job = { ...record.job, ...patch, state, finished_at: at, duration_ms: duration };
  return { ...record, job, leaseUntil: null, notBefore: null };
}

/** Whether a job in this state may still change. */
export function isOpen(state: string): boolean {
  return state === "queued" || state === "running";
}
