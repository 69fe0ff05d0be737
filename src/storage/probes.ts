import { MANIFEST_KEY } from "./keys.ts";
import { MIGRATIONS } from "./migration-files.ts";
import { checkTables } from "./migrations.ts";

/** The smallest round trip to each store. Each rejects if the store fails. */
export interface StoreProbes {
  readonly kv: () => Promise<unknown>;
  /** Rejects with TablesMissing if D1 answers without all tables. */
  readonly d1: () => Promise<unknown>;
  readonly r2: () => Promise<unknown>;
}

export function createStoreProbes(kv: KVNamespace, d1: D1Database, r2: R2Bucket): StoreProbes {
  return {
    kv: async () => kv.get(MANIFEST_KEY, { type: "arrayBuffer" }),
    d1: () => checkTables(d1, MIGRATIONS),
    r2: async () => r2.head(MANIFEST_KEY),
  };
}
