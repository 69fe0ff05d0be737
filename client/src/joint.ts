import { CatalogError } from "./api.ts";
import { withDeadline } from "./deadline.ts";

/** Work that takes longer may hang, and is joined no more. A file that failed is fetched again after this time. */
export const JOIN_MS = 10_000;

interface Running<T> {
  readonly startedAt: number;
  readonly ended: Promise<T>;
}

/**
 * Work that is done once for all callers who want it at the same time, by key. Work that takes long may
 * hang: the service is silent, or in a Worker the client has left whose request began it.
 */
export class Joint<Key, T> {
  readonly #running = new Map<Key, Running<T>>();
  readonly #joinMs: number;

  constructor(joinMs = JOIN_MS) {
    this.#joinMs = joinMs;
  }

  /**
   * Joins the work in progress, or begins it. Begins it again if it may hang, or if the caller who began
   * it has reached its own time limit.
   *
   * @param work rejects with a CatalogError.
   * @throws the reason of the signal, once that is aborted.
   */
  async join(key: Key, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const running = this.#running.get(key);
    const leftMs = running ? running.startedAt + this.#joinMs - performance.now() : 0;
    if (running === undefined || leftMs <= 0) return this.#begin(key, work);
    try {
      return await withDeadline(leftMs, (late) =>
        orAborted(orAborted(running.ended, late), signal),
      );
    } catch (cause) {
      const isFailure = cause instanceof CatalogError && cause.code !== "deadline_exceeded";
      if (isFailure || signal.aborted) throw cause;
      return this.join(key, work, signal);
    }
  }

  async #begin(key: Key, work: () => Promise<T>): Promise<T> {
    const begun = { startedAt: performance.now(), ended: work() };
    this.#running.set(key, begun);
    try {
      return await begun.ended;
    } finally {
      if (this.#running.get(key) === begun) this.#running.delete(key);
    }
  }
}

/** Ends as the work does, or fails with its reason when the signal is aborted. The work goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
    void work.then(resolve, reject).then(() => signal.removeEventListener("abort", fail));
  });
}
