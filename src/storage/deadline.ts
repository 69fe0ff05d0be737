import { StoreError } from "./store-error.ts";

/** A store did not answer in time. */
export class StoreTimeout extends StoreError {
  override readonly name = "StoreTimeout";
}

/** `promise`, or a rejection with StoreTimeout after `ms`: a store's promise may never settle. */
export async function withDeadline<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreTimeout(`${what}: no answer in ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** `promise`, or a rejection with the signal's reason as soon as it aborts. */
export async function abortable<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
