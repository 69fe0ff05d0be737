/** Room for a few failures per body of a version. */
const MAX_ENTRIES = 1024;

/** Remembers failures for a fixed time, so that failed work is not repeated at once. */
export class NegativeCache<T> {
  readonly #forMs: number;
  readonly #now: () => number;
  readonly #failures = new Map<string, { readonly failure: T; readonly until: number }>();

  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  get(key: string): T | undefined {
    const known = this.#failures.get(key);
    if (known === undefined || this.#now() < known.until) return known?.failure;
    this.#failures.delete(key);
    return undefined;
  }

  add(key: string, failure: T): void {
    if (this.#failures.size >= MAX_ENTRIES) this.#failures.clear();
    this.#failures.set(key, { failure, until: this.#now() + this.#forMs });
  }
}
