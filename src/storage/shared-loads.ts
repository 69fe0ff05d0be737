import { withDeadline } from "./deadline.ts";

/** How long to wait for a load that another request began, before loading anew. */
const SHARED_LOAD_DEADLINE_MS = 5_000;

/**
 * One load at a time for each key, shared by the requests that want it meanwhile.
 *
 * Accepted race: a load ends with the request that began it if that request is cut off, and its
 * promise then never settles for others. So the beginner is kept alive with `waitUntil`, and those
 * who wait give up after a while and load for themselves.
 */
export class SharedLoads<T> {
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  readonly #running = new Map<string, Promise<T>>();

  constructor(waitUntil: (promise: Promise<unknown>) => void) {
    this.#waitUntil = waitUntil;
  }

  has(key: string): boolean {
    return this.#running.has(key);
  }

  /** `read` must not reject. */
  load(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined)
      return withDeadline(key, SHARED_LOAD_DEADLINE_MS, running).catch(read);
    const load = read().finally(() => {
      if (this.#running.get(key) === load) this.#running.delete(key);
    });
    this.#running.set(key, load);
    this.#waitUntil(load);
    return load;
  }
}
