import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/store-error.ts";
import type { CoordinatorState } from "./state.ts";

/**
 * Records the versions of the stores in a new coordinator, which has none. Generations then
 * continue to rise, the guards compare with the served version, and served files do not count as
 * garbage. Does nothing if the stores are empty.
 *
 * @throws StoreError if a store fails.
 */
export async function adoptVersions(state: CoordinatorState, store: CatalogStore): Promise<void> {
  if (state.currentVersion() !== null) return;
  const found = new Map<number, Manifest>();
  for (const generation of (await store.listGenerations()).toSorted((a, b) => b - a))
    take(await store.readGeneration(generation));
  for (const replica of ["r2", "kv"] as const) take(await store.readManifest(replica));
  const versions = [...found.values()].toSorted((a, b) => a.generation - b.generation);
  state.transaction(() => {
    if (state.currentVersion() === null)
      for (const manifest of versions) state.addVersion(manifest);
  });

  function take(copy: Awaited<ReturnType<CatalogStore["readManifest"]>>): void {
    if (copy.ok) found.set(copy.value.generation, copy.value);
    else if (copy.fault === "unreadable") throw new StoreError(copy.detail);
  }
}
