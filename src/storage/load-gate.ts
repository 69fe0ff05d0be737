import { abortable } from "./deadline.ts";

/** After how long a load that has not ended is taken for lost. */
const LOST_AFTER_MS = 5_000;

/** Ends the share of the bound that a load has taken. May be called again, and then does nothing. */
export type Leave = () => void;

interface Share {
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface Waiting {
  readonly bytes: number;
  readonly enter: (leave: Leave) => void;
}

/**
 * Bounds the bytes that are being loaded at once. Who finds no room waits in line; what is larger
 * than the bound is loaded alone.
 *
 * Accepted race: a load that ends with its request, because that was cut off, gives nothing back.
 * Its share counts no longer after a while, so that those in line go on.
 */
export class LoadGate {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #shares = new Set<Share>();
  readonly #line = new Set<Waiting>();

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Takes a share at once; undefined where there is no room for it, or others wait already. */
  tryEnter(bytes: number): Leave | undefined {
    return this.#line.size === 0 && this.#hasRoom(bytes) ? this.#take(bytes) : undefined;
  }

  /** Takes a share when its turn comes. Rejects, and gives up its place, when the signal aborts. */
  async enter(bytes: number, signal: AbortSignal): Promise<Leave> {
    const { promise, resolve } = Promise.withResolvers<Leave>();
    const waiting: Waiting = { bytes, enter: resolve };
    this.#line.add(waiting);
    const lookingForLost = setInterval(() => this.#admit(), LOST_AFTER_MS / 10);
    this.#admit();
    try {
      return await abortable(signal, promise);
    } catch (reason) {
      if (!this.#line.delete(waiting)) (await promise)();
      this.#admit();
      throw reason;
    } finally {
      clearInterval(lookingForLost);
    }
  }

  /** Lets those in line in, in order, as far as there is room. */
  #admit(): void {
    for (const waiting of this.#line) {
      if (!this.#hasRoom(waiting.bytes)) return;
      this.#line.delete(waiting);
      waiting.enter(this.#take(waiting.bytes));
    }
  }

  #hasRoom(bytes: number): boolean {
    let taken = 0;
    for (const share of this.#shares)
      if (this.#now() - share.since < LOST_AFTER_MS) taken += share.bytes;
      else this.#shares.delete(share);
    return taken === 0 || taken + bytes <= this.#maxBytes;
  }

  #take(bytes: number): Leave {
    const share: Share = { bytes, since: this.#now() };
    this.#shares.add(share);
    return () => {
      if (this.#shares.delete(share)) this.#admit();
    };
  }
}
