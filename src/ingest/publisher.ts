import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/store-error.ts";

/**
 * Brings R2 and KV to a version that is recorded as published, and reads it back from both. May be
 * repeated at will. Throws StoreError if a store refuses, or shows something that is no earlier
 * version of this catalog.
 *
 * Accepted race: KV reads through a cache at the edge, which may show the version before, or none, for
 * about a minute after it took the new one. Only one that is too high there is a fault.
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
    throw new StoreError(`KV shows generation ${near.value.generation}, after ${generation}`);
}

/**
 * Brings the stores to a published version again if one of them has lost or damaged it, or shows
 * another one. Throws StoreError as `replicate` does.
 *
 * @returns whether there was anything to bring.
 */
export async function heal(store: CatalogStore, manifest: Manifest): Promise<boolean> {
  const copies = [await store.readManifest("r2"), await store.readManifest("kv")];
  const isShown = copies.every((copy) => copy.ok && copy.value.generation === manifest.generation);
  if (!isShown) await replicate(store, manifest);
  return !isShown;
}
