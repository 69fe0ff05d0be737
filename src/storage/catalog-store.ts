import { digestHex, releaseBuffer } from "../catalog/bytes.ts";
import type { Body, StoredPiece } from "../parts/compose.ts";
import { inflatePart } from "../parts/inflate.ts";
import { type Manifest, MANIFEST_FORMAT } from "../parts/manifest.ts";
import { openManifest, serializeManifest, checksumOf } from "../parts/stored-manifest.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { isGeneration } from "../platform/ranges.ts";
import { orStoreError, StoreError, withDeadline } from "../platform/deadline.ts";
import {
  blobKey,
  BLOBS_PREFIX,
  generationKey,
  GENERATIONS_PREFIX,
  listNames,
  MANIFEST_KEY,
} from "./keys.ts";
import { checkOwnerOf, type Claim } from "./ownership.ts";

/** Result of reading a copy: the value, or the reason why it is unusable. */
export type Copy<T> = { readonly ok: true; readonly value: T } | CopyFault;

export interface CopyFault {
  readonly ok: false;
  readonly fault: "missing" | "corrupt" | "unreadable";
  readonly detail: string;
}

/** Location of a copy. KV is near but may lag; R2 is strongly consistent. */
export type Replica = "kv" | "r2";

/**
 * The published catalog in KV, with a copy of everything in R2. Reading a copy returns faults as
 * values. Writes, lists and deletions throw StoreError if a store fails.
 */
export type CatalogStore = ReturnType<typeof createCatalogStore>;

const COPY_DEADLINE_MS = 3_000;
/** A write or deletion that exceeds this deadline may still take effect. */
const WRITE_DEADLINE_MS = 30_000;
/** KV's shortest cache time: for the manifest, and to verify blobs. */
const FRESH_CACHE_TTL_SECONDS = 30;
/** KV's cache time for blobs, which never change. */
const BLOB_CACHE_TTL_SECONDS = 86_400;

/** @param claim names the owner that writes manifests; a reader needs none. */
export function createCatalogStore(kv: KVNamespace, r2: R2Bucket, claim?: Claim) {
  const read = (replica: Replica, key: string, cacheTtl: number) =>
    readCopy(key, () => (replica === "kv" ? readKv(kv, key, cacheTtl) : readR2(r2, key)));
  const manifests = new ManifestParser();
  const readBlob = async (replica: Replica, sha256: Sha256Hex, cacheTtl: number) => {
    let copy = await read(replica, blobKey(sha256), cacheTtl);
    // KV also caches the absence of a value, for as long as the read asks.
    const isMissing = !copy.ok && copy.fault === "missing";
    if (isMissing && replica === "kv" && cacheTtl > FRESH_CACHE_TTL_SECONDS)
      copy = await read(replica, blobKey(sha256), FRESH_CACHE_TTL_SECONDS);
    if (!copy.ok || (await digestHex(copy.value)) === sha256) return copy;
    const detail = `${blobKey(sha256)}: ${copy.value.length} bytes of another hash`;
    return { ok: false, fault: "corrupt", detail } as const;
  };
  const checkOwner = () => checkOwnerOf(r2, requireClaim());
  const requireClaim = () => {
    if (claim === undefined) throw new Error("a reader writes no manifest");
    return claim;
  };
  /** Reads the current manifest. Returns the same object as before if the stored text is the same. */
  const readManifest = async (replica: Replica) =>
    manifests.open(await read(replica, MANIFEST_KEY, FRESH_CACHE_TTL_SECONDS));
  /** Stores R2's current manifest under its generation, unless it is there. */
  const keepShown = async () => {
    const shown = await readManifest("r2");
    if (!shown.ok && shown.fault === "unreadable") throw new StoreError(shown.detail);
    if (!shown.ok) return;
    const key = generationKey(shown.value.generation);
    const onlyIf = { etagDoesNotMatch: "*" };
    await written(`R2 put ${key}`, r2.put(key, serializeManifest(shown.value), { onlyIf }));
  };
  return {
    readManifest,
    async readGeneration(generation: number): Promise<Copy<Manifest>> {
      const key = generationKey(generation);
      return openCopy(await read("r2", key, 0), key);
    },
    /** Reads a blob and verifies its hash. KV may answer from a cache up to a day old. */
    readBlob: (replica: Replica, sha256: Sha256Hex) =>
      readBlob(replica, sha256, BLOB_CACHE_TTL_SECONDS),
    /** Verifies that a blob is stored intact. KV may answer from a cache up to 30 s old. */
    async checkBlob(replica: Replica, sha256: Sha256Hex): Promise<Copy<string>> {
      const copy = await readBlob(replica, sha256, FRESH_CACHE_TTL_SECONDS);
      if (!copy.ok) return copy;
      releaseBuffer(copy.value);
      return { ok: true, value: sha256 };
    },
    async writeBlob(sha256: Sha256Hex, bytes: Uint8Array): Promise<void> {
      const key = blobKey(sha256);
      await written(`R2 put ${key}`, r2.put(key, bytes, { sha256 }));
      await written(`KV put ${key}`, kv.put(key, bytes));
    },
    listBlobs: (): Promise<Sha256Hex[]> => listNames(r2, BLOBS_PREFIX),
    /** Deletes blobs from both replicas, from R2 last. */
    async deleteBlobs(sha256s: readonly Sha256Hex[]): Promise<void> {
      const keys = sha256s.map(blobKey);
      await Promise.all(keys.map((key) => written(`KV delete ${key}`, kv.delete(key))));
      if (keys.length > 0) await written("R2 delete of blobs", r2.delete(keys));
    },
    async writeGeneration(manifest: Manifest): Promise<void> {
      const key = generationKey(manifest.generation);
      await written(`R2 put ${key}`, r2.put(key, serializeManifest(manifest)));
    },
    async listGenerations(): Promise<number[]> {
      const names = await listNames(r2, GENERATIONS_PREFIX);
      const numbers = names.map(Number).filter(isGeneration);
      return numbers.filter((number) => names.includes(String(number)));
    },
    async deleteGenerations(generations: readonly number[]): Promise<void> {
      if (generations.length > 0)
        await written("R2 delete of manifests", r2.delete(generations.map(generationKey)));
    },
    /**
     * Makes a manifest current: in R2, also under its generation, and then in KV. R2 accepts it only if
     * its manifest is unchanged since the check of the owner, so it refuses one of two installations.
     * First stores the previous manifest under its generation, because a newer version ends the
     * attempts to do so.
     *
     * @throws ForeignStores as `checkOwner` does.
     */
    async writeManifest(manifest: Manifest): Promise<void> {
      const text = serializeManifest(manifest);
      const etag = await checkOwner();
      if (etag !== null) await keepShown();
      const onlyIf = etag === null ? { etagDoesNotMatch: "*" } : { etagMatches: etag };
      const customMetadata = { owner: requireClaim().owner, format: String(MANIFEST_FORMAT) };
      const put = r2.put(MANIFEST_KEY, text, { onlyIf, customMetadata });
      if ((await written(`R2 put ${MANIFEST_KEY}`, put)) === null) {
        await checkOwner();
        throw new StoreError(`R2 put ${MANIFEST_KEY}: another write came first`);
      }
      const key = generationKey(manifest.generation);
      await written(`R2 put ${key}`, r2.put(key, text));
      await written(`KV put ${MANIFEST_KEY}`, kv.put(MANIFEST_KEY, text));
    },
    checkOwner,
  };
}

function written<T>(what: string, promise: Promise<T>): Promise<T> {
  return orStoreError(what, WRITE_DEADLINE_MS, promise);
}

async function readKv(kv: KVNamespace, key: string, cacheTtl: number): Promise<ArrayBuffer | null> {
  return kv.get(key, { type: "arrayBuffer", cacheTtl });
}

async function readR2(r2: R2Bucket, key: string): Promise<ArrayBuffer | null> {
  const object = await r2.get(key);
  return object === null ? null : object.arrayBuffer();
}

async function readCopy(
  key: string,
  read: () => Promise<ArrayBuffer | null>,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  try {
    const buffer = await withDeadline(key, COPY_DEADLINE_MS, read());
    if (buffer === null) return { ok: false, fault: "missing", detail: key };
    return { ok: true, value: new Uint8Array(buffer) };
  } catch (error) {
    return { ok: false, fault: "unreadable", detail: `${key}: ${String(error)}` };
  }
}

/** Parses the current manifest, unless its text is the same as before. */
class ManifestParser {
  #last: { readonly checksum: string; readonly copy: Copy<Manifest> } | undefined;

  async open(text: Copy<Uint8Array<ArrayBuffer>>): Promise<Copy<Manifest>> {
    if (!text.ok) return text;
    const checksum = checksumOf(text.value);
    if (checksum === this.#last?.checksum) return this.#last.copy;
    const copy = await openCopy(text);
    if (copy.ok) this.#last = { checksum, copy };
    return copy;
  }
}

async function openCopy(
  text: Copy<Uint8Array<ArrayBuffer>>,
  key = MANIFEST_KEY,
): Promise<Copy<Manifest>> {
  if (!text.ok) return text;
  const parsed = await openManifest(text.value);
  if (parsed.ok) return { ok: true, value: parsed.manifest };
  const fault = parsed.isTooOld ? "missing" : "corrupt";
  return { ok: false, fault, detail: `${key}: ${parsed.problem}` };
}

type BlobStore = Pick<CatalogStore, "readBlob">;

/**
 * Reads a body from R2, or from KV if R2 fails, and verifies each part. Reads one part at a time, so
 * that a large body is never in memory twice. Never throws. The fault is `unreadable` if a store
 * did not answer, because it may still have the part.
 */
export async function tryReadBody(
  store: BlobStore,
  { bytes, pieces }: Body,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const piece of pieces) {
    const copy =
      piece instanceof Uint8Array
        ? ({ ok: true, value: piece } as const)
        : await readPiece(store, piece);
    if (!copy.ok) return copy;
    whole.set(copy.value, offset);
    offset += copy.value.length;
  }
  return { ok: true, value: whole };
}

async function readPiece(store: BlobStore, piece: StoredPiece): Promise<Copy<Uint8Array>> {
  const copy = await readIntactBlob(store, piece.sha256);
  return copy.ok ? sentBytes(piece, copy.value) : copy;
}

/** Returns the bytes of a blob as a body sends them; a fault if their number is wrong. */
export function sentBytes<B extends ArrayBufferLike>(
  { sha256, bytes, isInflated }: StoredPiece,
  blob: Uint8Array<B>,
): Copy<Uint8Array<B | ArrayBuffer>> {
  const sent = isInflated ? inflatePart(blob, bytes) : blob;
  if (sent?.length === bytes) return { ok: true, value: sent };
  return { ok: false, fault: "corrupt", detail: `${sha256} is not ${bytes} bytes long` };
}

/** Reads a blob from R2, or from KV if R2 has no intact copy. */
export async function readIntactBlob(
  store: BlobStore,
  sha256: Sha256Hex,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  const copy = await store.readBlob("r2", sha256);
  if (copy.ok) return copy;
  const other = await store.readBlob("kv", sha256);
  return other.ok || other.fault === "unreadable" ? other : copy;
}
