import { isRecent } from "./time.ts";
import type { DurationMs, EpochMs } from "./units.ts";

/** Deadline of one piece of work of a Durable Object, such as a step of a job. Usually it takes seconds. */
export const WORK_LIMIT_MS: DurationMs = 5 * 60_000;
export const OVERDUE = "its work took too long, or the clock was set back";

/**
 * Ends an instance of a Durable Object that works for too long; a new one takes its place. The caller's
 * clock measures the time, because workerd may stop the clock and the timers of a busy object after the
 * machine's clock was set back.
 */
export class WorkLimit {
  readonly #now: () => EpochMs;
  readonly #restart: () => void;
  #startedAt: EpochMs | null = null;

  /** @param restart ends the instance, as in a crash. */
  constructor({ now, restart }: { readonly now: () => EpochMs; readonly restart: () => void }) {
    this.#now = now;
    this.#restart = restart;
  }

  get isWorking(): boolean {
    return this.#startedAt !== null;
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    this.#startedAt = this.#now();
    try {
      return await work();
    } finally {
      this.#startedAt = null;
    }
  }

  /** @param at now, by the clock of the caller. */
  check(at: EpochMs): void {
    if (this.#startedAt !== null && !isRecent(this.#startedAt, WORK_LIMIT_MS, at)) this.#restart();
  }
}
