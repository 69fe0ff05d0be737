import { withDeadline } from "./deadline.ts";
import { toStoreError } from "./store-error.ts";

/**
 * What a store answers. Throws StoreError if it refuses, and StoreTimeout after `ms`: what it was
 * asked for may still be done.
 */
export async function askStore<T>(what: string, ms: number, answer: Promise<T>): Promise<T> {
  try {
    return await withDeadline(what, ms, answer);
  } catch (cause) {
    throw toStoreError(what, cause);
  }
}
