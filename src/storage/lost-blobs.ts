import { type Manifest, neededBlobs } from "../parts/manifest.ts";
import type { Sha256Hex } from "../platform/units.ts";
import type { CatalogStore } from "./catalog-store.ts";

/** Maximum number of blobs without a copy in R2 that are looked for elsewhere at a time. */
const ABSENT_MAX = 50;

/** Whether both stores have lost a blob of a version's bodies. A store that does not answer may have it. */
export async function hasLostBlobs(store: CatalogStore, manifest: Manifest): Promise<boolean> {
  const needed = neededBlobs(manifest).filter(({ isOfBody }) => isOfBody);
  for (const sha256 of await findAbsent(store, new Set(needed.map(({ sha256: key }) => key)))) {
    const copy = await store.checkBlob("kv", sha256);
    if (!copy.ok && copy.fault !== "unreadable") return true;
  }
  return false;
}

/** Finds blobs that R2 does not list. None if R2 does not answer, because it may have them all. */
export async function findAbsent(
  store: Pick<CatalogStore, "listBlobs">,
  blobs: ReadonlySet<Sha256Hex>,
): Promise<Sha256Hex[]> {
  const listed = await store.listBlobs().catch(() => null);
  const stored = new Set(listed ?? blobs);
  return [...blobs].filter((sha256) => !stored.has(sha256)).slice(0, ABSENT_MAX);
}
