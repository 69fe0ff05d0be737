import { letGo } from "../catalog/bytes.ts";
import { manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/store-error.ts";
import type { Blob, CommonPiece } from "./bodies.ts";
import type { RunContext } from "./checkpoint.ts";
import { HeldPieces } from "./held-pieces.ts";

/** What a run has stored for the version that it makes: some of it in memory as well, to save time. */
export class StoredPieces {
  readonly #store: CatalogStore;
  readonly #held = new HeldPieces();

  constructor(store: CatalogStore) {
    this.#store = store;
  }

  /** The bytes of a piece, to be given to `letGo` when nobody reads them any more. */
  async read({ blob }: CommonPiece): Promise<Uint8Array> {
    const held = this.#held.get(blob);
    if (held !== undefined) return held;
    const copy = await this.#store.readBlob("r2", blob);
    if (!copy.ok) throw new StoreError(`${copy.fault} ${copy.detail}`);
    this.hold({ sha256: blob, bytes: copy.value });
    return copy.value;
  }

  letGo({ blob }: CommonPiece, bytes: Uint8Array): void {
    if (this.#held.get(blob) !== bytes) letGo(bytes);
  }

  /** Keeps a piece that has been stored in memory, if there is room. */
  hold(piece: Blob): void {
    this.#held.hold(piece);
  }

  /** Stores blobs that the current version lacks, and reads them back. */
  async write(
    blobs: readonly Blob[],
    { mode, current, noteBlobs }: Pick<RunContext, "mode" | "current" | "noteBlobs">,
  ): Promise<void> {
    const stored = mode === "full" || current === null ? new Set() : manifestBlobs(current);
    const missing = blobs.filter((blob) => !stored.has(blob.sha256));
    noteBlobs(missing.map(({ sha256 }) => sha256));
    await Promise.all(
      missing.map(async ({ sha256, bytes }) => {
        await this.#store.writeBlob(sha256, bytes);
        for (const replica of ["r2", "kv"] as const) {
          const copy = await this.#store.checkBlob(replica, sha256);
          if (!copy.ok) throw new StoreError(`${replica} ${copy.fault} ${copy.detail}`);
        }
      }),
    );
  }

  /** Lets go of what is in memory. */
  forget(): void {
    this.#held.clear();
  }
}
