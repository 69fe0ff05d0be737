import { manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/store-error.ts";
import type { Blob, StoredSegment } from "./bodies.ts";
import type { RunContext } from "./checkpoint.ts";

/** What a run has stored for the version that it makes; the common segments in memory as well. */
export class SegmentStore {
  readonly #store: CatalogStore;
  readonly #common = new Map<string, Uint8Array>();

  constructor(store: CatalogStore) {
    this.#store = store;
  }

  /** A common segment. Every locale reads all of them, so they stay in memory. */
  async readCommon({ blob }: StoredSegment): Promise<Blob> {
    const held = this.#common.get(blob);
    if (held !== undefined) return { sha256: blob, bytes: held };
    const copy = await this.#store.readBlob("r2", blob);
    if (!copy.ok) throw new StoreError(`${copy.fault} ${copy.detail}`);
    this.#common.set(blob, copy.value);
    return { sha256: blob, bytes: copy.value };
  }

  /**
   * Stores blobs that the current version lacks. Nothing is read back: R2 checks the hash of what it
   * takes, KV would show a cached miss, readers check every hash, and the alerts watch the copies.
   */
  async write(
    blobs: readonly Blob[],
    { mode, current }: Pick<RunContext, "mode" | "current">,
  ): Promise<void> {
    const stored = mode === "full" || current === null ? new Set() : manifestBlobs(current);
    const missing = blobs.filter((blob) => !stored.has(blob.sha256));
    await Promise.all(missing.map(({ sha256, bytes }) => this.#store.writeBlob(sha256, bytes)));
  }

  /** Keeps a common segment that has been stored in memory. */
  holdCommon({ sha256, bytes }: Blob): void {
    this.#common.set(sha256, bytes);
  }

  /** Lets go of what is in memory. */
  forget(): void {
    this.#common.clear();
  }
}
