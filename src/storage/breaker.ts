/** Faults in a row after which a store is skipped. */
const FAULTS_TO_OPEN = 3;
/** How long a store is skipped after its last fault. */
const SKIPPED_FOR_MS = 2_000;

/**
 * A circuit breaker. After several faults in a row it allows one call every two seconds, as a trial;
 * the next answer closes it.
 */
export class Breaker {
  readonly #now: () => number;
  #faults = 0;
  #skippedUntil = 0;

  /** @param now milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether a call may be made. The caller must make it: a trial is allowed only once. */
  allows(): boolean {
    if (this.#faults < FAULTS_TO_OPEN) return true;
    if (this.#now() < this.#skippedUntil) return false;
    this.#skippedUntil = this.#now() + SKIPPED_FOR_MS;
    return true;
  }

  answered(): void {
    this.#faults = 0;
  }

  failed(): void {
    this.#faults++;
    this.#skippedUntil = this.#now() + SKIPPED_FOR_MS;
  }
}
