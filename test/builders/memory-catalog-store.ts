import type { Manifest } from "../../src/parts/manifest.ts";
import { serializeManifest } from "../../src/parts/stored-manifest.ts";
import { createCatalogStore } from "../../src/storage/catalog-store.ts";
import type { Claim } from "../../src/storage/ownership.ts";
import { blobKey, generationKey, MANIFEST_KEY } from "../../src/storage/keys.ts";
import { MemoryBucket, toBytes } from "./memory-bucket.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What KV and R2 hold. */
export interface Replicas {
  readonly kv: Map<string, Bytes>;
  readonly bucket: Pick<MemoryBucket, "files" | "recorded">;
}

/** The claim of an installation that nobody disputes. */
export const A_CLAIM: Claim = { owner: "tests", replaceable: () => null, checked: () => {} };

/** A version with its blobs, each with its SHA-256 (hex). */
interface Version {
  readonly manifest: Manifest;
  readonly blobs: readonly (readonly [string, Uint8Array])[];
}

export type MemoryCatalogStore = ReturnType<typeof memoryCatalogStore>;

/**
 * Builds the real catalog store over a KV and an R2 in memory, which record their calls, such as
 * `kv get catalog/manifest`. Both are its own, or another way into the replicas of `other`.
 */
export function memoryCatalogStore(other?: Replicas, claim = A_CLAIM) {
  const kv = other?.kv ?? new Map<string, Bytes>();
  const bucket = new MemoryBucket(other?.bucket);
  const calls: string[] = [];
  const enter = async (call: string) => {
    calls.push(call);
    await store.before(call);
  };
  bucket.before = (call) => enter(`r2 ${call}`);
  bucket.after = (call) => store.after(`r2 ${call}`);
  const changeKv = async (call: string, work: () => unknown) => {
    await enter(`kv ${call}`);
    work();
    await store.after(`kv ${call}`);
  };
  const namespace = {
    async get(key: string) {
      await enter(`kv get ${key}`);
      return kv.get(key)?.slice().buffer ?? null;
    },
    put: (key: string, value: string | Uint8Array) =>
      changeKv(`put ${key}`, () => kv.set(key, toBytes(value))),
    delete: (key: string) => changeKv(`delete ${key}`, () => kv.delete(key)),
  } as unknown as KVNamespace; // the catalog store uses no more than there is here
  const store = {
    ...createCatalogStore(namespace, bucket.binding, claim),
    kv,
    bucket,
    r2: bucket.files,
    calls,
    /** Its errors and delays are those of the called binding. */
    before: (_call: string): void | Promise<void> => {},
    /** Its errors come after the write has taken effect, so that the answer is lost. */
    after: (_call: string): void | Promise<void> => {},
    /** Publishes a version as the ingest does, without recording it. */
    publish({ manifest, blobs }: Version): void {
      for (const replica of [kv, bucket.files])
        for (const [sha256, bytes] of blobs) replica.set(blobKey(sha256), Uint8Array.from(bytes));
      bucket.lay(generationKey(manifest.generation), manifestBytes(manifest));
      bucket.lay(MANIFEST_KEY, manifestBytes(manifest), { customMetadata: { owner: claim.owner } });
      kv.set(MANIFEST_KEY, manifestBytes(manifest));
    },
    /** Counts the calls of a kind so far, such as `kv get`. */
    count: (kind: string) => calls.filter((call) => call.startsWith(kind)).length,
  };
  return store;
}

/** The stored bytes of a manifest. */
export function manifestBytes(manifest: Manifest): Bytes {
  return toBytes(serializeManifest(manifest));
}
