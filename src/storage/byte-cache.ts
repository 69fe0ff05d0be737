/**
 * A least-recently-used cache, bounded in bytes. It stores plain bytes only: one request must not
 * await a promise or a stream of another.
 */
export class ByteCache<T extends { readonly size: number }> {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, T>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Stores a value and evicts the least recently used. Ignores a value over the bound. */
  set(key: string, value: T): void {
    this.#delete(key);
    if (value.size > this.#maxBytes) return;
    this.#entries.set(key, value);
    this.#bytes += value.size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= value.size;
  }
}
