import { withDeadline } from "./deadline.ts";

/**
 * After how long a load that has not ended is taken for lost. The longest sound one is a manifest's,
 * which waits for KV and then for R2, three seconds each.
 */
const LOST_AFTER_MS = 8_000;

interface Flight<T> {
  readonly promise: Promise<T>;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
}

/**
 * One load at a time for each key, shared by the requests that want it meanwhile.
 *
 * Accepted race: a load ends with the request that began it if that request is cut off, and its
 * promise then never settles for others. So `waitUntil` keeps that request alive, and a load that
 * takes too long is taken for lost: the first of those who wait begins another, the rest join.
 */
export class SingleFlight<T> {
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  readonly #now: () => number;
  readonly #running = new Map<string, Flight<T>>();

  constructor(waitUntil: (promise: Promise<unknown>) => void, now: () => number) {
    this.#waitUntil = waitUntil;
    this.#now = now;
  }

  /** Whether a load is under way that is worth waiting for. */
  has(key: string): boolean {
    return this.#remainingMs(this.#running.get(key)) > 0;
  }

  /** Joins the load that is under way, or begins one. `read` must not reject. */
  load(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    const remainingMs = this.#remainingMs(running);
    if (running === undefined || remainingMs <= 0) return this.#begin(key, read);
    return withDeadline(key, remainingMs, running.promise).catch(() => {
      if (this.#running.get(key) === running) this.#running.delete(key);
      return this.load(key, read);
    });
  }

  #remainingMs(running: Flight<T> | undefined): number {
    return running === undefined ? 0 : running.beganAt + LOST_AFTER_MS - this.#now();
  }

  #begin(key: string, read: () => Promise<T>): Promise<T> {
    const promise = read().finally(() => {
      if (this.#running.get(key)?.promise === promise) this.#running.delete(key);
    });
    this.#running.set(key, { promise, beganAt: this.#now() });
    this.#waitUntil(promise);
    return promise;
  }
}
