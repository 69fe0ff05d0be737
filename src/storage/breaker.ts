/** Faults in a row after which a store is skipped. */
const FAULTS_TO_OPEN = 3;
/** Wait before a single call tries a skipped store again. */
const PROBE_AFTER_MS = 5_000;

/** A circuit breaker: after several faults in a row, it lets one call through every five seconds. */
export class Breaker {
  readonly #now: () => number;
  #faults = 0;
  #skippedUntil = 0;

  /** @param now milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to make a call. The call must report its result. */
  allows(): boolean {
    if (this.#faults < FAULTS_TO_OPEN) return true;
    if (this.#now() < this.#skippedUntil) return false;
    this.#skip();
    return true;
  }

  answered(): void {
    this.#faults = 0;
  }

  failed(): void {
    this.#faults++;
    this.#skip();
  }

  #skip(): void {
    this.#skippedUntil = this.#now() + PROBE_AFTER_MS;
  }
}
