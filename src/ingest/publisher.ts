import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";

/**
 * Brings R2 and KV to a version that is recorded as published, and reads it back from both. May be
 * repeated at will. Throws if a store refuses or still shows another version.
 */
export async function replicate(store: CatalogStore, manifest: Manifest): Promise<void> {
  await store.writeGeneration(manifest);
  await store.writeManifest(manifest);
  const copies = [
    await store.readGeneration(manifest.generation),
    await store.readManifest("r2"),
    await store.readManifest("kv"),
  ];
  for (const copy of copies) {
    if (!copy.ok) throw new Error(copy.detail);
    if (copy.value.generation !== manifest.generation)
      throw new Error(`a store still shows generation ${copy.value.generation}`);
  }
}
