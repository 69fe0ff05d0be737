/** A store failed, did not answer or returned wrong bytes. A retry may succeed. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** Wraps a store's error with the operation that failed. */
export function toStoreError(what: string, cause: unknown): StoreError {
  return cause instanceof StoreError
    ? cause
    : new StoreError(`${what}: ${String(cause)}`, { cause });
}
