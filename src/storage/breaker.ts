/** Faults in a row after which a store is skipped. */
const FAULTS_TO_OPEN = 3;
/** How long a store is skipped after its last fault. */
const SKIPPED_FOR_MS = 2_000;

/**
 * A circuit breaker. After several faults in a row it allows no calls for two seconds; then the next
 * fault opens it again, and the next answer closes it.
 */
export class Breaker {
  readonly #now: () => number;
  #faults = 0;
  #skippedUntil = 0;

  /** @param now milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  allows(): boolean {
    return this.#faults < FAULTS_TO_OPEN || this.#now() >= this.#skippedUntil;
  }

  answered(): void {
    this.#faults = 0;
  }

  failed(): void {
    this.#faults++;
    this.#skippedUntil = this.#now() + SKIPPED_FOR_MS;
  }
}
