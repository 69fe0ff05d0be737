/** Age at which unfinished work counts as lost. */
const LOST_AFTER_MS = 5_000;
/** Interval at which waiting work checks for lost work. */
const EXPIRY_INTERVAL_MS = 500;

interface Share {
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface Waiting {
  readonly bytes: number;
  readonly enter: (share: Share) => void;
}

/**
 * Bounds the bytes of concurrent work. Work that does not fit waits in order. Work larger than the
 * bound runs alone.
 *
 * Accepted race: the platform can cut off a request together with its work, which then never
 * releases its share. The share expires, so that waiting work continues.
 */
export class ByteSemaphore {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #shares = new Set<Share>();
  readonly #queue = new Set<Waiting>();

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Runs the work as soon as its bytes fit and no earlier work waits. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const share = await this.#enter(bytes);
    try {
      return await work();
    } finally {
      this.#shares.delete(share);
      this.#admit();
    }
  }

  async #enter(bytes: number): Promise<Share> {
    const { promise, resolve } = Promise.withResolvers<Share>();
    this.#queue.add({ bytes, enter: resolve });
    const expiry = setInterval(() => this.#admit(), EXPIRY_INTERVAL_MS);
    this.#admit();
    try {
      return await promise;
    } finally {
      clearInterval(expiry);
    }
  }

  /** Admits waiting work in order while there is room. */
  #admit(): void {
    for (const waiting of this.#queue) {
      if (!this.#hasRoom(waiting.bytes)) return;
      const share = { bytes: waiting.bytes, since: this.#now() };
      this.#queue.delete(waiting);
      this.#shares.add(share);
      waiting.enter(share);
    }
  }

  #hasRoom(bytes: number): boolean {
    let taken = 0;
    for (const share of this.#shares)
      if (this.#now() - share.since < LOST_AFTER_MS) taken += share.bytes;
      else this.#shares.delete(share);
    return taken === 0 || taken + bytes <= this.#maxBytes;
  }
}
