import { describeError, type Log, type LogLevel } from "../log.ts";
import { endRecord, isOpen, type JobRecord } from "./job-record.ts";
import { backoffMs, nextToStep, type Queue } from "./queue.ts";

/** If a step dies without a word, the next attempt begins after this time. */
export const LEASE_MS = 120_000;
/** Attempts at one step before its job fails. */
export const MAX_STEP_ATTEMPTS = 5;

/**
 * What becomes of a record, in the transaction that commits a step. It has the type of a method, so
 * that one engine takes the changes of all works.
 */
export type Change<R extends JobRecord> = { change(record: R): R }["change"];

/** What a step that threw comes to. */
export interface Verdict<R extends JobRecord> {
  /** The fault, in a word for programs. */
  readonly code: string;
  /** Whether the step is repeated after a while. */
  readonly repeat: boolean;
  readonly change: Change<R>;
}

/** How jobs of one kind are done. */
export interface Work<R extends JobRecord = JobRecord> {
  /** The stage of the next step, for people. */
  stageOf(record: R): string;
  /**
   * Takes one bounded step, which may be repeated after a crash.
   *
   * @throws what `faulted` judges.
   */
  step(record: R): Promise<Change<R>>;
  /**
   * What becomes of a job whose step threw.
   *
   * @param isLast whether the step may not be repeated.
   */
  faulted(record: R, cause: unknown, isLast: boolean): Promise<Verdict<R>>;
  /** What a line of the log says of a job. */
  describe(job: R["job"]): { readonly [field: string]: unknown };
  /** What is to be done when a job has ended; it may be done again. */
  ended?(record: R): void;
}

/** A step that was begun so many times, and never ended. */
export class StepNeverEnded extends Error {
  override readonly name = "StepNeverEnded";

  constructor() {
    super(`the step was begun ${MAX_STEP_ATTEMPTS} times and never ended`);
  }
}

export interface EngineDependencies {
  readonly find: (work: string, id: string) => JobRecord | undefined;
  readonly save: (record: JobRecord) => void;
  readonly works: { readonly [name: string]: Work };
  readonly queue: () => Queue;
  readonly transaction: <T>(change: () => T) => T;
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Does all jobs, one at a time, one bounded step after the other: claims a step in a transaction,
 * takes it, and commits only if nobody has claimed it since. A crash between two of these repeats
 * the step and loses nothing.
 */
export class Engine {
  readonly #deps: EngineDependencies;

  constructor(deps: EngineDependencies) {
    this.#deps = deps;
  }

  /** Takes the step that is next, if one is due. */
  async takeNext(): Promise<void> {
    const claimed = this.#claim();
    if (claimed === undefined) return;
    // `#commit` cancels what is to be cancelled.
    const change = isToBeCancelled(claimed)
      ? (record: JobRecord) => record
      : await this.#changeOf(claimed);
    const committed = this.#commit(claimed, change);
    if (committed !== undefined && !isOpen(committed.job.state)) this.end(committed);
  }

  /** Does what is due when a job has ended. */
  end(record: JobRecord): void {
    const { state, duration_ms } = record.job;
    this.#log(state === "failed" ? "error" : "info", "ended", record, { state, duration_ms });
    this.#workOf(record).ended?.(record);
  }

  #claim(): JobRecord | undefined {
    const { save, queue, transaction } = this.#deps;
    return transaction(() => {
      const now = this.#deps.now();
      const record = nextToStep(queue(), now);
      if (record === undefined) return undefined;
      const at = new Date(now).toISOString();
      const stage = this.#workOf(record).stageOf(record);
      const claimed: JobRecord = {
        ...record,
        job: {
          ...record.job,
          state: "running",
          started_at: record.job.started_at ?? at,
          heartbeat_at: at,
          stage,
        },
        stageSince: record.job.stage === stage ? record.stageSince : now,
        fence: record.fence + 1,
        attempts: record.attempts + 1,
        leaseUntil: now + LEASE_MS,
        notBefore: null,
      };
      save(claimed);
      return claimed;
    });
  }

  async #changeOf(claimed: JobRecord): Promise<Change<JobRecord>> {
    const work = this.#workOf(claimed);
    const { attempts, isCommitted } = claimed;
    const began = this.#deps.now();
    const log = (level: LogLevel, event: string, record: JobRecord, fields = {}) => {
      const duration_ms = this.#deps.now() - began;
      this.#log(level, event, record, { stage: claimed.job.stage, duration_ms, ...fields });
    };
    try {
      if (attempts > MAX_STEP_ATTEMPTS && !isCommitted) throw new StepNeverEnded();
      const change = await work.step(claimed);
      return (record) => {
        const changed = change(record);
        // What a pause held back is not done.
        if (changed !== record) log("info", "step", changed);
        return { ...changed, attempts: 0, leaseUntil: null };
      };
    } catch (cause) {
      const isLast = attempts >= MAX_STEP_ATTEMPTS && !isCommitted;
      const { code, repeat, change } = await work.faulted(claimed, cause, isLast);
      const fields = { error_code: code, attempt: attempts, ...describeError(cause) };
      log("warn", "step_failed", claimed, fields);
      if (!repeat) return (record) => ({ ...change(record), attempts: 0, leaseUntil: null });
      const notBefore = this.#deps.now() + backoffMs(attempts);
      return (record) => ({ ...change(record), leaseUntil: null, notBefore });
    }
  }

  /** Commits under the fence that was given out; undefined if there is another by now. */
  #commit(claimed: JobRecord, change: Change<JobRecord>): JobRecord | undefined {
    const { find, save, transaction } = this.#deps;
    return transaction(() => {
      const record = find(claimed.work, claimed.job.id);
      if (record?.fence !== claimed.fence || record.job.state !== "running") return undefined;
      const next = isToBeCancelled(record) ? this.#cancelled(record) : change(record);
      save(next);
      return next;
    });
  }

  #cancelled(record: JobRecord): JobRecord {
    return endRecord(record, { state: "cancelled", at: new Date(this.#deps.now()).toISOString() });
  }

  #workOf({ work }: JobRecord): Work {
    const found = this.#deps.works[work];
    if (found === undefined) throw new Error(`nothing does the work ${work}`);
    return found;
  }

  #log(
    level: LogLevel,
    event: string,
    record: JobRecord,
    fields: { readonly [field: string]: unknown },
  ): void {
    const about = this.#workOf(record).describe(record.job);
    this.#deps.log(level, `${record.work}_${event}`, { ...about, ...fields });
  }
}

function isToBeCancelled({ cancelRequestedBy, isCommitted }: JobRecord): boolean {
  return cancelRequestedBy !== null && !isCommitted;
}
