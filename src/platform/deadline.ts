import type { DurationMs } from "./units.ts";

/** Deadline of a call of a store, even of one that reads or deletes many keys. */
export const CALL_DEADLINE_MS = 60_000;

/** A store failed, did not answer or returned wrong bytes. A retry may succeed. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

function toStoreError(what: string, cause: unknown): StoreError {
  return cause instanceof StoreError
    ? cause
    : new StoreError(`${what}: ${String(cause)}`, { cause });
}

export class StoreTimeout extends StoreError {
  override readonly name = "StoreTimeout";
}

/** Rejects with StoreTimeout after `ms`, because a store's promise may never settle. */
export function withDeadline<T>(what: string, ms: DurationMs, promise: Promise<T>): Promise<T> {
  return withTimeout(ms, promise, () => new StoreTimeout(`${what}: no answer in ${ms} ms`));
}

/** Awaits a store's answer; throws StoreError if it fails. A write that times out may still take effect. */
export async function orStoreError<T>(
  what: string,
  ms: DurationMs,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await withDeadline(what, ms, answer);
  } catch (cause) {
    throw toStoreError(what, cause);
  }
}

/** Applies `orStoreError` to every call of a store that returns a promise. */
export function bounded<S extends object>(what: string, ms: DurationMs, store: S): S {
  const calls = Object.entries(store).map(([name, call]: [string, AnyCall]) => [
    name,
    (...args: unknown[]) => {
      const answer = call(...args);
      return answer instanceof Promise ? orStoreError(`${what} ${name}`, ms, answer) : answer;
    },
  ]);
  return Object.fromEntries(calls) as S; // the same calls, with the same answers
}

type AnyCall = (...args: unknown[]) => unknown;

/** Rejects with the error from `late` after `ms`. */
export function withTimeout<T>(ms: DurationMs, promise: Promise<T>, late: () => Error): Promise<T> {
  return settledWithin(ms, promise, () => {
    throw late();
  });
}

/** Settles as `promise` does, or as `late` does if the promise is still pending after `ms`. */
export function settledWithin<T, L>(
  ms: DurationMs,
  promise: Promise<T>,
  late: () => L | Promise<L>,
): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(Promise.resolve().then(late)), ms);
    const inTime =
      <V>(settle: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        settle(value);
      };
    promise.then(inTime(resolve), inTime(reject));
  });
}
