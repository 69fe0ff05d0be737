/** After how long work that has not ended is taken for lost. */
const LOST_AFTER_MS = 5_000;
/** How often those in line look for work that was lost. */
const LOOK_EVERY_MS = 500;

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
 * Bounds the bytes that are in work at once. What finds no room waits in line; what is larger than
 * the bound is done alone.
 *
 * Accepted race: work that ends with its request, because that was cut off, gives nothing back. Its
 * share no longer counts after a while, so that those in line go on.
 */
export class ByteSemaphore {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #shares = new Set<Share>();
  readonly #line = new Set<Waiting>();

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Does the work when there is room for so many bytes and nobody has waited longer. */
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
    this.#line.add({ bytes, enter: resolve });
    const lookingForLost = setInterval(() => this.#admit(), LOOK_EVERY_MS);
    this.#admit();
    try {
      return await promise;
    } finally {
      clearInterval(lookingForLost);
    }
  }

  /** Lets those in line in, in order, as far as there is room. */
  #admit(): void {
    for (const waiting of this.#line) {
      if (!this.#hasRoom(waiting.bytes)) return;
      const share = { bytes: waiting.bytes, since: this.#now() };
      this.#line.delete(waiting);
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
