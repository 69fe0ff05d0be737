/**
 * A least-recently-used cache, bounded in bytes. It stores plain bytes only: one request must not
 * await a promise or a stream of another.
 */
export class ByteCache<T extends { readonly size: number }> {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, T>();
  /** Entries that give way before all others. */
  readonly #spare = new Map<string, T>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    return touch(this.#entries, key) ?? touch(this.#spare, key);
  }

  /**
   * Stores a value and evicts the least recently used, spare ones first. Ignores a value over the
   * bound.
   */
  set(key: string, value: T, { isSpare = false } = {}): void {
    this.#delete(this.#entries, key);
    this.#delete(this.#spare, key);
    if (value.size > this.#maxBytes) return;
    (isSpare ? this.#spare : this.#entries).set(key, value);
    this.#bytes += value.size;
    this.#evictFrom(this.#spare);
    this.#evictFrom(this.#entries);
  }

  #evictFrom(entries: Map<string, T>): void {
    for (const oldest of entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#delete(entries, oldest);
    }
  }

  #delete(entries: Map<string, T>, key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    this.#bytes -= value.size;
  }
}

/** Returns a value and makes it the most recently used. */
function touch<T>(entries: Map<string, T>, key: string): T | undefined {
  const value = entries.get(key);
  if (value === undefined) return undefined;
  entries.delete(key);
  entries.set(key, value);
  return value;
}
