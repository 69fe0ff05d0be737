import { withDeadline } from "./deadline.ts";

/** How long to wait for a load that another request began, before loading anew. */
const SHARED_LOAD_DEADLINE_MS = 5_000;

interface SharedLoad<T> {
  readonly promise: Promise<T>;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
}

/**
 * One load at a time for each key, shared by the requests that want it meanwhile.
 *
 * Accepted race: a load ends with the request that began it if that request is cut off, and its
 * promise then never settles for others. So the beginner is kept alive with `waitUntil`, those who
 * wait give up after a while, and a load that takes longer is taken for lost by those who come.
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

  /** `read` must not reject. */
  load(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#find(key);
    if (running !== undefined)
      return withDeadline(key, SHARED_LOAD_DEADLINE_MS, running.promise).catch(() =>
        this.#begin(key, read),
      );
    return this.#begin(key, read);
  }

  #find(key: string): SharedLoad<T> | undefined {
    const running = this.#running.get(key);
    const isLost =
      running !== undefined && this.#now() - running.beganAt >= SHARED_LOAD_DEADLINE_MS;
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
