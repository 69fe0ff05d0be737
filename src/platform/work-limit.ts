import { isRecent } from "./time.ts";
import type { DurationMs, EpochMs } from "./units.ts";

/** Longest work of a Durable Object in one piece, such as a step of a job. It takes seconds. */
export const WORK_LIMIT_MS: DurationMs = 5 * 60_000;
/** What the platform reports of an instance that has ended itself. */
export const OVERDUE = "its work took too long, or the clock was set back";

/**
 * Ends an instance of a Durable Object whose work has not ended in time; a new one takes its place. Its
 * own clock and timers cannot tell: while an object works, workerd lets both stand still if the machine's
 * clock was set back. The clock of whoever calls it can.
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
