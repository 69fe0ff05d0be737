/** The copies of a published version in KV and R2: made, compared, repaired. */
import { type Manifest, neededBlobs } from "../parts/manifest.ts";
import { sealManifest } from "../parts/sealed-manifest.ts";
import { type CatalogStore } from "./catalog-store.ts";
import { ForeignStores } from "./ownership.ts";
import { StoreError } from "../platform/deadline.ts";

/**
 * Replicates a published version to R2 and KV, and reads it back from both. Idempotent. Throws
 * StoreError if a store fails, if R2 shows another version, or if KV shows a newer one. Throws
 * ForeignStores as `checkOwner` does, unless the version was shown before another took the stores over.
 *
 * Accepted race: KV's edge cache may show the previous version, or none, for about a minute after
 * the write. Only a newer generation is therefore a fault of KV.
 */
export async function replicate(store: CatalogStore, manifest: Manifest): Promise<void> {
  const { generation } = manifest;
  try {
    await store.writeManifest(manifest);
  } catch (cause) {
    if (!(cause instanceof ForeignStores)) throw cause;
    const kept = await store.readGeneration(generation);
    if (!kept.ok && kept.fault === "unreadable") throw new StoreError(kept.detail);
    if (kept.ok && sealManifest(kept.value) === sealManifest(manifest)) return;
    throw cause;
  }
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
 * Replicates a published version again if a store has lost or damaged its manifest, or shows an older
 * version; but not if one shows a version that this installation has not published, since KV may be
 * another installation's namespace. Throws StoreError as `replicate` does.
 *
 * @returns the highest generation of such a version; null if there is none.
 */
export async function repairCopies(
  store: CatalogStore,
  manifest: Manifest,
): Promise<{ readonly unknown: number | null; readonly isRepaired: boolean }> {
  const { generation, published_at } = manifest;
  const copies = [await store.readManifest("r2"), await store.readManifest("kv")];
  const shown = copies.map((copy) => (copy.ok ? copy.value : { generation: 0, published_at: "" }));
  const isKnown = (other: Pick<Manifest, "generation" | "published_at">) =>
    other.generation === generation && other.published_at === published_at;
  const unknown = shown.filter((other) => other.generation >= generation && !isKnown(other));
  if (unknown.length > 0)
    return { unknown: Math.max(...unknown.map((other) => other.generation)), isRepaired: false };
  const isRepaired = !shown.every(isKnown);
  if (isRepaired) await replicate(store, manifest);
  return { unknown: null, isRepaired };
}

/** Most blobs without a copy in R2 that are looked for in KV. */
const LOOKED_FOR_IN_KV = 50;

/**
 * Whether both stores have lost a blob of a version's bodies. A store that does not answer may still
 * have it.
 */
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
