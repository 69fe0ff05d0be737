import { durationOf, timeText } from "../platform/time.ts";
import { describeError, type LogLevel } from "../platform/log.ts";
import { increased } from "../platform/ranges.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { backoffMs, endRecord, isCancelled, isOpen, type JobRecord, nextToStep } from "./jobs.ts";

/** If a step dies with its instance, the next attempt starts after this time at the latest. */
export const WATCHDOG_MS = 120_000;
/** Attempts at one step before its job fails. */
const MAX_STEP_ATTEMPTS = 5;

/**
 * Changes a record in the transaction that commits a step. The method type makes it bivariant, so
 * that one engine accepts the changes of every kind of work.
 */
export type StepCommit<R extends JobRecord> = { change(record: R): R }["change"];

export interface FailedStep<R extends JobRecord> {
  /** Stable code of the fault. */
  readonly code: string;
  /** Whether the engine retries the step after a back-off. */
  readonly repeat: boolean;
  readonly change: StepCommit<R>;
}

export interface Work<R extends JobRecord = JobRecord> {
  /** Names the stage of the next step, for operators. */
  stageOf(record: R): string;
  /**
   * Takes one bounded step. The engine may repeat it after a crash.
   *
   * @throws a cause for `faulted`.
   */
  step(record: R): Promise<StepCommit<R>>;
  /**
   * Decides on a step that threw.
   *
   * @param isLast whether this was the last attempt.
   */
  faulted(record: R, cause: unknown, isLast: boolean): Promise<FailedStep<R>>;
  describe(job: R["job"]): { readonly [field: string]: unknown };
  /** Cleans up after a job has ended. Idempotent. */
  ended?(record: R): void;
}

export class StepNeverEnded extends Error {
  override readonly name = "StepNeverEnded";

  constructor() {
    super(`the step started ${MAX_STEP_ATTEMPTS} times and never finished`);
  }
}

/**
 * Runs all jobs, one at a time, in bounded steps. It claims a step in a transaction, takes it, and
 * commits it in another. A crash in between repeats the step and loses nothing, and the coordinator
 * crashes on purpose if a step takes too long. Steps never overlap, because an object has one instance,
 * which runs one alarm at a time.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
export class Engine {
  readonly #platform: CoordinatorPlatform;
  readonly #works: { readonly [name: string]: Work };

  constructor(platform: CoordinatorPlatform, works: { readonly [name: string]: Work }) {
    this.#platform = platform;
    this.#works = works;
  }

  async takeNext(): Promise<void> {
    const claimed = this.#claim();
    if (claimed === undefined) return;
    const committed = await this.#step(claimed);
    if (!isOpen(committed.job.state)) this.#end(committed);
  }

  #end(record: JobRecord): void {
    const { state, duration_ms } = record.job;
    this.#log(state === "failed" ? "error" : "info", "ended", record, { state, duration_ms });
    this.#workOf(record).ended?.(record);
  }

  #claim(): JobRecord | undefined {
    const { state } = this.#platform;
    const found = state.transaction(() => {
      const now = this.#platform.now();
      const record = nextToStep(state.queue(), now);
      if (record === undefined) return undefined;
      const at = timeText(now);
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
        attempts: increased(record.attempts),
        notBefore: null,
      };
      state.save(claimed);
      return { claimed, isFirst: record.job.heartbeat_at === null };
    });
    if (found?.isFirst === true) this.#log("info", "started", found.claimed, {});
    return found?.claimed;
  }

  /** Takes a claimed step and commits it. */
  async #step(claimed: JobRecord): Promise<JobRecord> {
    const work = this.#workOf(claimed);
    const { attempts, isCommitted } = claimed;
    const startedAt = this.#platform.now();
    const log = (level: LogLevel, event: string, record: JobRecord, fields = {}) => {
      const duration_ms = durationOf(startedAt, this.#platform.now());
      this.#log(level, event, record, { stage: claimed.job.stage, duration_ms, ...fields });
    };
    try {
      // `#commit` cancels the job.
      if (isCancelled(claimed.job)) return this.#commit(claimed, (record) => record);
      if (attempts > MAX_STEP_ATTEMPTS && !isCommitted) throw new StepNeverEnded();
      const change = await work.step(claimed);
      return this.#commit(claimed, (record) => {
        const changed = change(record);
        // A pause may have discarded the step.
        if (changed !== record) log("info", "step", changed);
        return { ...changed, attempts: 0 };
      });
    } catch (cause) {
      const isLast = attempts >= MAX_STEP_ATTEMPTS && !isCommitted;
      const { code, repeat, change } = await work.faulted(claimed, cause, isLast);
      log("warn", "step_failed", claimed, {
        error_code: code,
        attempt: attempts,
        ...describeError(cause),
      });
      const notBefore = repeat ? this.#platform.now() + backoffMs(attempts) : null;
      return this.#commit(claimed, (record) => {
        const next = { ...change(record), notBefore };
        return repeat ? next : { ...next, attempts: 0 };
      });
    }
  }

  /** Commits a step, or cancels the job if somebody has requested it meanwhile. */
  #commit(claimed: JobRecord, change: StepCommit<JobRecord>): JobRecord {
    const { state, now } = this.#platform;
    return state.transaction(() => {
      const record = state.jobs.find(claimed.work, claimed.job.id);
      if (record === undefined) throw new Error(`the job ${claimed.job.id} is gone`);
      const next = isCancelled(record.job)
        ? endRecord(record, { state: "cancelled", at: timeText(now()) })
        : change(record);
      state.save(next);
      return next;
    });
  }

  #workOf({ work }: JobRecord): Work {
    const found = this.#works[work];
    if (found === undefined) throw new Error(`there is no work named ${work}`);
    return found;
  }

  #log(
    level: LogLevel,
    event: string,
    record: JobRecord,
    fields: { readonly [field: string]: unknown },
  ): void {
    const about = this.#workOf(record).describe(record.job);
    this.#platform.log(level, `${record.work}_${event}`, { ...about, ...fields });
  }
}
