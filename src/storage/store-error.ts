/** A store refused, did not answer, or holds something else than it was given: this may pass. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** What a store was asked for, and what it refused with, as a StoreError. */
export function toStoreError(what: string, cause: unknown): StoreError {
  return cause instanceof StoreError
    ? cause
    : new StoreError(`${what}: ${String(cause)}`, { cause });
}
