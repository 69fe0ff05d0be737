import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { StoreError } from "./deadline.ts";

/**
 * Replicates a published version to R2 and KV, and reads it back from both. Idempotent. Throws
 * StoreError if a store fails, if R2 shows another version, or if KV shows a newer one.
 *
 * Accepted race: KV's edge cache may show the previous version, or none, for about a minute after
 * the write. Only a newer generation is therefore a fault of KV.
 */
export async function replicate(store: CatalogStore, manifest: Manifest): Promise<void> {
  await store.writeGeneration(manifest);
  await store.writeManifest(manifest);
  const { generation } = manifest;
  for (const copy of [await store.readGeneration(generation), await store.readManifest("r2")]) {
    if (!copy.ok) throw new StoreError(copy.detail);
    if (copy.value.generation !== generation)
      throw new StoreError(`R2 shows generation ${copy.value.generation} instead of ${generation}`);
  }
  const near = await store.readManifest("kv");
  if (near.ok && near.value.generation > generation)
    throw new StoreError(`KV shows generation ${near.value.generation} instead of ${generation}`);
}

/**
 * Replicates a published version again if a store has lost or damaged its manifest, or shows
 * another version. Throws StoreError as `replicate` does.
 *
 * @returns whether a store needed the repair.
 */
export async function repairCopies(store: CatalogStore, manifest: Manifest): Promise<boolean> {
  const copies = [await store.readManifest("r2"), await store.readManifest("kv")];
  const isShown = copies.every((copy) => copy.ok && copy.value.generation === manifest.generation);
  if (!isShown) await replicate(store, manifest);
  return !isShown;
}
