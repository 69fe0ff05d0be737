import { sha256Hex } from "../../src/catalog/bytes.ts";
import { type Manifest, sealManifest } from "../../src/catalog/manifest.ts";
import { type Claim, createCatalogStore } from "../../src/storage/catalog-store.ts";
import { blobKey, generationKey, MANIFEST_KEY } from "../../src/storage/keys.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What KV and R2 hold, by key. */
export interface Replicas {
  readonly kv: Map<string, Bytes>;
  readonly r2: Map<string, Bytes>;
  /** Who wrote the manifest in R2, and its format. */
  readonly manifestMetadata: { owner?: string; format?: string };
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
 * `kv get catalog/manifest`. Both are its own, or another way into the same replicas.
 */
export function memoryCatalogStore(
  { kv, r2, manifestMetadata }: Replicas = { kv: new Map(), r2: new Map(), manifestMetadata: {} },
  claim = A_CLAIM,
) {
  const calls: string[] = [];
  const enter = async (call: string) => {
    calls.push(call);
    await store.before(call);
  };
  const change = async (call: string, work: () => unknown) => {
    await enter(call);
    work();
    await store.after(call);
  };
  const bucket = memoryR2({ objects: r2, manifestMetadata, enter, change });
  const store = {
    ...createCatalogStore(memoryKv(kv, enter, change), bucket, claim),
    kv,
    r2,
    manifestMetadata,
    calls,
    /** What it throws is the fault of the binding that is called; what it awaits is its delay. */
    before: (_call: string): void | Promise<void> => {},
    /** What it throws is thrown when the write has taken effect: its answer is lost. */
    after: (_call: string): void | Promise<void> => {},
    /** Publishes a version as the ingest does, without recording it. */
    publish({ manifest, blobs }: Version): void {
      for (const replica of [kv, r2]) {
        for (const [sha256, bytes] of blobs) replica.set(blobKey(sha256), Uint8Array.from(bytes));
        replica.set(MANIFEST_KEY, sealedBytes(manifest));
      }
      r2.set(generationKey(manifest.generation), sealedBytes(manifest));
      manifestMetadata.owner = claim.owner;
    },
    /** Counts the calls of a kind so far, such as `kv get`. */
    count: (kind: string) => calls.filter((call) => call.startsWith(kind)).length,
  };
  return store;
}

/** The stored bytes of a manifest. */
export function sealedBytes(manifest: Manifest): Bytes {
  return Uint8Array.from(new TextEncoder().encode(sealManifest(manifest)));
}

/**
 * Gates a store: once its instance is lost, no call to it ever settles, not even by a timeout.
 */
export function whileAlive<S extends object>(store: S, isAlive: () => boolean): S {
  const get = (target: S, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, name);
    if (typeof value !== "function") return value;
    return async (...args: readonly unknown[]) => {
      try {
        return await value.apply(target, args);
      } finally {
        if (!isAlive()) await new Promise(() => {});
      }
    };
  };
  return new Proxy(store, { get });
}

type Enter = (call: string) => Promise<void>;
type Change = (call: string, work: () => unknown) => Promise<void>;

function memoryKv(values: Map<string, Bytes>, enter: Enter, change: Change): KVNamespace {
  const kv = {
    async get(key: string) {
      await enter(`kv get ${key}`);
      return values.get(key)?.slice().buffer ?? null;
    },
    put: (key: string, value: string | Uint8Array) =>
      change(`kv put ${key}`, () => values.set(key, toBytes(value))),
    delete: (key: string) => change(`kv delete ${key}`, () => values.delete(key)),
  };
  return kv as unknown as KVNamespace; // the catalog store uses no more than there is here
}

interface MemoryR2 {
  readonly objects: Map<string, Bytes>;
  readonly manifestMetadata: Replicas["manifestMetadata"];
  readonly enter: Enter;
  readonly change: Change;
}

interface PutOptions {
  readonly sha256?: string;
  readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string };
  readonly customMetadata?: Replicas["manifestMetadata"];
}

function memoryR2({ objects, manifestMetadata, enter, change }: MemoryR2): R2Bucket {
  const etagOf = (key: string) => {
    const bytes = objects.get(key);
    return bytes && sha256Hex(bytes);
  };
  const r2 = {
    async head(key: string) {
      await enter(`r2 head ${key}`);
      const etag = etagOf(key);
      return etag === undefined ? null : { etag, customMetadata: { ...manifestMetadata } };
    },
    async get(key: string) {
      await enter(`r2 get ${key}`);
      const bytes = objects.get(key);
      return bytes === undefined ? null : { arrayBuffer: async () => bytes.slice().buffer };
    },
    async put(key: string, value: string | Uint8Array, options: PutOptions = {}) {
      const { sha256, onlyIf = {}, customMetadata } = options;
      const bytes = toBytes(value);
      if (sha256 !== undefined && sha256Hex(bytes) !== sha256)
        throw new Error("put: the SHA-256 does not match");
      let isDone = false;
      await change(`r2 put ${key}`, () => {
        const etag = etagOf(key);
        if (onlyIf.etagMatches !== undefined && onlyIf.etagMatches !== etag) return;
        if (onlyIf.etagDoesNotMatch === "*" && etag !== undefined) return;
        objects.set(key, bytes);
        if (customMetadata !== undefined) Object.assign(manifestMetadata, customMetadata);
        isDone = true;
      });
      return isDone ? { key } : null;
    },
    async delete(keys: string | readonly string[]) {
      for (const key of [keys].flat()) await change(`r2 delete ${key}`, () => objects.delete(key));
    },
    async list({ prefix }: { prefix: string }) {
      await enter(`r2 list ${prefix}`);
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix));
      return { objects: keys.map((key) => ({ key })), truncated: false };
    },
  };
  return r2 as unknown as R2Bucket; // the catalog store uses no more than there is here
}

function toBytes(value: string | Uint8Array): Bytes {
  return Uint8Array.from(typeof value === "string" ? new TextEncoder().encode(value) : value);
}
