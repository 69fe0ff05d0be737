import { withStoreTimeout } from "./deadline.ts";

/**
 * Bounds every call of a store that returns a promise. Such a call throws StoreError if the store
 * fails, and StoreTimeout after `ms`.
 */
export function bounded<S extends object>(what: string, ms: number, store: S): S {
  const calls = Object.entries(store).map(([name, call]: [string, AnyCall]) => [
    name,
    (...args: unknown[]) => {
      const answer = call(...args);
      return answer instanceof Promise ? withStoreTimeout(`${what} ${name}`, ms, answer) : answer;
    },
  ]);
  return Object.fromEntries(calls) as S; // the same calls, with the same answers
}

type AnyCall = (...args: unknown[]) => unknown;
