import { blobsOf, type StoredPart } from "../parts/manifest.ts";
import { inflatePart } from "../parts/inflate.ts";
import { type CatalogStore, readIntactBlob } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import type { HashedBlob } from "./locale-parts.ts";
import type { EncodeContext } from "./step.ts";

/** Stores the parts of a run's version. Caches the shared parts in memory. */
export class PartStore {
  readonly #store: CatalogStore;
  readonly #shared = new Map<string, Uint8Array>();

  constructor(store: CatalogStore) {
    this.#store = store;
  }

  /** Reads a shared part and caches it: every locale reads all of them. */
  async readShared({ sha256 }: StoredPart): Promise<HashedBlob> {
    const cached = this.#shared.get(sha256);
    if (cached !== undefined) return { sha256, bytes: cached };
    const copy = await this.#store.readBlob("r2", sha256);
    if (!copy.ok) throw new StoreError(`${copy.fault} ${copy.detail}`);
    this.#shared.set(sha256, copy.value);
    return { sha256, bytes: copy.value };
  }

  /** Reads a part of an earlier version as it is stored; null if no copy is intact. */
  async readEarlier(part: StoredPart | undefined): Promise<HashedBlob | null> {
    const bytes = part && (await readPart(this.#store, part));
    return part && bytes ? { sha256: part.sha256, bytes } : null;
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
    const stored = mustStoreAll || current === null ? new Set() : blobsOf(current);
    const missing = blobs.filter((blob) => !stored.has(blob.sha256));
    await Promise.all(missing.map(({ sha256, bytes }) => this.#store.writeBlob(sha256, bytes)));
  }

  async writeMade({ sha256, bytes }: HashedBlob): Promise<void> {
    await this.#store.writeBlob(sha256, bytes);
  }

  cacheShared({ sha256, bytes }: HashedBlob): void {
    this.#shared.set(sha256, bytes);
  }

  forget(): void {
    this.#shared.clear();
  }
}

/** Reads a stored part; null if no copy is intact. Throws StoreError if a store fails. */
export async function readPart(
  store: Pick<CatalogStore, "readBlob">,
  { sha256 }: StoredPart,
): Promise<Uint8Array | null> {
  const copy = await readIntactBlob(store, sha256);
  if (!copy.ok && copy.fault === "unreadable") throw new StoreError(copy.detail);
  return copy.ok ? copy.value : null;
}

/** Reads a locale part without a coding, as `readPart` does. */
export async function readLocalePart(
  store: Pick<CatalogStore, "readBlob">,
  { gzip, bytes }: { readonly gzip: StoredPart; readonly bytes: number },
): Promise<Uint8Array | null> {
  const part = await readPart(store, gzip);
  return part && (inflatePart(part, bytes) ?? null);
}
