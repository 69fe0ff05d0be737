/** Work that began longer ago is not joined. */
export const JOIN_MS = 1000;

/**
 * Work for which all wait together that want it at about the same time. What is older may hang: a
 * silent service, or in a Worker the request that began it and whose client has left.
 */
export class Joint<T> {
  #running: { readonly startedAt: number; readonly ended: Promise<T> } | undefined;

  /** Joins what has just begun, until the signal is aborted, or else begins. */
  join(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const running = this.#running;
    if (running !== undefined && performance.now() - running.startedAt < JOIN_MS)
      return orAborted(running.ended, signal);
    const begun = { startedAt: performance.now(), ended: work() };
    this.#running = begun;
    return begun.ended.finally(() => {
      if (this.#running === begun) this.#running = undefined;
    });
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
