import { withDeadline } from "./deadline.ts";

/**
 * After how long a load that has not ended is taken for lost. The longest sound one is a manifest's,
 * which waits for KV and then for R2, three seconds each.
 */
const LOST_AFTER_MS = 8_000;

interface SharedLoad<T> {
  readonly promise: Promise<T>;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
}

/**
 * One load at a time for each key, shared by the requests that want it meanwhile.
 *
 * Accepted race: a load ends with the request that began it if that request is cut off, and its
 * promise then never settles for others. So the beginner is kept alive with `waitUntil`, and a load
 * that takes too long is taken for lost: the first of those who wait begins another, the rest join.
 */
export class SharedLoads<T> {
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  readonly #now: () => number;
  readonly #running = new Map<string, SharedLoad<T>>();

  constructor(waitUntil: (promise: Promise<unknown>) => void, now: () => number) {
    this.#waitUntil = waitUntil;
    this.#now = now;
  }

  /** Whether a load is under way that is worth waiting for. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Joins the load that is under way, or begins one. `read` must not reject. */
  load(key: string, read: () => Promise<T>): Promise<T> {
    return this.join(key, () => this.load(key, read)) ?? this.#begin(key, read);
  }

  /** What the load that is under way comes to, or `ifLost` if it does not end; undefined if none is. */
  join(key: string, ifLost: () => Promise<T>): Promise<T> | undefined {
    const running = this.#find(key);
    if (running === undefined) return undefined;
    const remainingMs = running.beganAt + LOST_AFTER_MS - this.#now();
    return withDeadline(key, remainingMs, running.promise).catch(() => {
      if (this.#running.get(key) === running) this.#running.delete(key);
      return ifLost();
    });
  }

  #find(key: string): SharedLoad<T> | undefined {
    const running = this.#running.get(key);
    const isLost = running !== undefined && this.#now() - running.beganAt >= LOST_AFTER_MS;
    return isLost ? undefined : running;
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
