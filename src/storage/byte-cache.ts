/**
 * Keeps bytes by key, the most recently used ones first, bounded in bytes. Holds plain bytes only: a
 * promise or a stream of one request must not be awaited by another.
 */
export class ByteCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Blob>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes held at present. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Blob | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Holds `value`, letting go of the least recently used; a value over the bound is not held. */
  set(key: string, value: Blob): void {
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
