import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../storage/store-error.ts";
import type { CoordinatorState } from "./coordinator-state.ts";

/**
 * Takes over the versions that the stores show, for a coordinator that has none of its own: it is
 * new, and they are not. So generations go on rising, the guards compare with what is served, and
 * nothing that is served counts as garbage. Does nothing where the stores are empty.
 *
 * @throws StoreError where a store does not answer.
 */
export async function adoptVersions(state: CoordinatorState, store: CatalogStore): Promise<void> {
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
