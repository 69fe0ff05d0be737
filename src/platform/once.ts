/** Shares a result between callers: a memo of a text, and one load at a time. */
import { withDeadline } from "./deadline.ts";
import type { DurationMs, EpochMs } from "./units.ts";

/** Maximum number of memoized texts. Clients send a few dozen different ones. */
const MAX_ENTRIES = 512;
/** Longer texts are not memoized, so that callers cannot fill the memory. */
const MAX_LENGTH = 128;

/** Memoizes a pure function of a text. Callers must not change the results. */
export function memoize<T extends string | object | undefined>(
  compute: (text: string) => T,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined || known.has(text)) return found as T; // it has the text
    const computed = compute(text);
    if (text.length > MAX_LENGTH) return computed;
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= MAX_ENTRIES) known.delete(oldest);
    known.set(text, computed);
    return computed;
  };
}

/** Age at which a load counts as lost. One from hung stores ends after 3.4 s; a request may take 5 s. */
const LOST_AFTER_MS = 4_000;

interface Flight<T> {
  readonly promise: Promise<T>;
  readonly startedAt: EpochMs;
}

/**
 * Runs one load per key at a time and shares it between concurrent requests.
 *
 * Accepted race: if the platform cuts off the request that started a load, its promise never settles
 * for the others. `waitUntil` keeps that request alive, and an overdue load counts as lost: the first
 * waiting request starts a new load, the others join it.
 */
export class SingleFlight<T> {
  readonly #waitUntil: (promise: Promise<unknown>) => void;
  readonly #now: () => EpochMs;
  readonly #running = new Map<string, Flight<T>>();

  constructor(waitUntil: (promise: Promise<unknown>) => void, now: () => EpochMs) {
    this.#waitUntil = waitUntil;
    this.#now = now;
  }

  /** Whether a load is running and not lost. */
  has(key: string): boolean {
    return this.#remainingMs(this.#running.get(key)) > 0;
  }

  /** Joins the running load or starts one. `read` must not reject. */
  load(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    const remainingMs = this.#remainingMs(running);
    if (running === undefined || remainingMs <= 0) return this.#start(key, read);
    return withDeadline(key, remainingMs, running.promise).catch(() => {
      if (this.#running.get(key) === running) this.#running.delete(key);
      return this.load(key, read);
    });
  }

  #remainingMs(running: Flight<T> | undefined): DurationMs {
    return running === undefined ? 0 : LOST_AFTER_MS - Math.abs(this.#now() - running.startedAt);
  }

  #start(key: string, read: () => Promise<T>): Promise<T> {
    const promise = read().finally(() => {
      if (this.#running.get(key)?.promise === promise) this.#running.delete(key);
    });
    this.#running.set(key, { promise, startedAt: this.#now() });
    this.#waitUntil(promise);
    return promise;
  }
}
