/** Names of the stores, by what they hold. */
const STORES = { history: "D1", backups: "R2", archive: "R2" } as const;

/** A store could not be reached, or did not answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  readonly store: keyof typeof STORES;
  readonly retryAfterSeconds = 10;

  constructor(store: keyof typeof STORES, cause: unknown) {
    super(`${STORES[store]} does not answer`, { cause });
    this.store = store;
  }
}
