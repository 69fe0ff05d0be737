import { type Body, manifestBlobs, type StoredSegment } from "../catalog/manifest.ts";
import { type CatalogStore, tryReadBody } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import type { HashedBlob } from "./bodies.ts";
import type { EncodeContext } from "./step.ts";

/** Stores the segments of a run's version. Caches the common segments in memory. */
export class SegmentStore {
  readonly #store: CatalogStore;
  readonly #common = new Map<string, Uint8Array>();

  constructor(store: CatalogStore) {
    this.#store = store;
  }

  /** Reads a common segment and caches it: every locale reads all of them. */
  async readCommon({ blob }: StoredSegment): Promise<HashedBlob> {
    const cached = this.#common.get(blob);
    if (cached !== undefined) return { sha256: blob, bytes: cached };
    const copy = await this.#store.readBlob("r2", blob);
    if (!copy.ok) throw new StoreError(`${copy.fault} ${copy.detail}`);
    this.#common.set(blob, copy.value);
    return { sha256: blob, bytes: copy.value };
  }

  /** Reads a segment of an earlier version as it is stored; null if no copy is intact. */
  async readEarlier(segment: StoredSegment | undefined): Promise<HashedBlob | null> {
    if (segment === undefined) return null;
    const bytes = await readSegment(this.#store, segment);
    return bytes && { sha256: segment.blob, bytes };
  }

  /**
   * Stores the blobs that the current version lacks, or all of them. It reads nothing back:
   * R2 verifies the hash on upload, KV would show a cached miss, readers verify every hash, and
   * alerts monitor the copies.
   */
  async write(
    blobs: readonly HashedBlob[],
    { mustStoreAll, current }: Pick<EncodeContext, "mustStoreAll" | "current">,
  ): Promise<void> {
    const stored = mustStoreAll || current === null ? new Set() : manifestBlobs(current);
    const missing = blobs.filter((blob) => !stored.has(blob.sha256));
    await Promise.all(missing.map(({ sha256, bytes }) => this.#store.writeBlob(sha256, bytes)));
  }

  /** Caches a stored common segment. */
  cacheCommon({ sha256, bytes }: HashedBlob): void {
    this.#common.set(sha256, bytes);
  }

  /** Clears the cache. */
  forget(): void {
    this.#common.clear();
  }
}

/** Reads a stored segment; null if no copy is intact. Throws StoreError if a store fails. */
export async function readSegment(
  store: Pick<CatalogStore, "readBlob">,
  segment: StoredSegment | undefined,
): Promise<Uint8Array | null> {
  if (segment === undefined) return null;
  const { blob: sha256, bytes } = segment;
  const copy = await tryReadBody(store, { sha256, bytes, segments: [segment] });
  if (!copy.ok && copy.fault === "unreadable") throw new StoreError(copy.detail);
  return copy.ok ? copy.value : null;
}

/** Returns the stored segments of a body: the lists that all locales share, and the regions. */
export function storedSegments(body: Body | undefined): StoredSegment[] {
  return body?.segments.filter((segment) => "blob" in segment) ?? [];
}
