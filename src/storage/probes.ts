import { MANIFEST_KEY } from "./keys.ts";

/** The smallest round trip to each store. Each rejects if the store fails. */
export interface StoreProbes {
  readonly kv: () => Promise<unknown>;
  readonly d1: () => Promise<unknown>;
  readonly r2: () => Promise<unknown>;
}

export function createStoreProbes(kv: KVNamespace, d1: D1Database, r2: R2Bucket): StoreProbes {
  return {
    kv: async () => kv.get(MANIFEST_KEY, { type: "arrayBuffer" }),
    d1: async () => d1.prepare("SELECT 1").first(),
    r2: async () => r2.head(MANIFEST_KEY),
  };
}
