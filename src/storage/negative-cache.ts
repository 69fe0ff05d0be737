/** Most failures remembered: a few for each body that a version has. */
const MAX_ENTRIES = 1024;

/** Remembers failures for a while, so that what failed is not tried again meanwhile. */
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
