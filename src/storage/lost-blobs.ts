import { type Manifest, neededBlobs } from "../parts/manifest.ts";
import type { CatalogStore } from "./catalog-store.ts";

/** Most blobs without a copy in R2 that are looked for in KV. */
const LOOKED_FOR_IN_KV = 50;

/** Whether both stores have lost a blob of a version's bodies. A store that does not answer may have it. */
export async function hasLostBlobs(store: CatalogStore, manifest: Manifest): Promise<boolean> {
  const inR2 = await store.listBlobs().catch(() => null);
  if (inR2 === null) return false;
  const listed = new Set(inR2);
  const needed = neededBlobs(manifest).filter(({ isOfBody }) => isOfBody);
  const blobs = new Set(needed.map(({ sha256 }) => sha256));
  const absent = [...blobs].filter((sha256) => !listed.has(sha256));
  for (const sha256 of absent.slice(0, LOOKED_FOR_IN_KV)) {
    const copy = await store.checkBlob("kv", sha256);
    if (!copy.ok && copy.fault !== "unreadable") return true;
  }
  return false;
}
