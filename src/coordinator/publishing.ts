/** How versions are adopted, replicated and rolled back; `ingest-work.ts` records those of runs. */
import type { Manifest } from "../parts/manifest.ts";
import { isSameContent } from "../ingest/content.ts";
import { type CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import { replicate } from "../storage/replicate.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import type { CoordinatorState } from "./state.ts";
import type { Version } from "../schemas/version.ts";
import { describeVersion, rolledBack } from "./versions.ts";

/**
 * Records the versions of the stores in a new coordinator, which has none. Generations then
 * continue to rise, the guards compare with the served version, and served files do not count as
 * garbage. Of a version that it cannot read it records the generation.
 *
 * @throws StoreError if a store fails.
 */
export async function adoptVersions(state: CoordinatorState, store: CatalogStore): Promise<void> {
  if (state.currentVersion() !== null) return;
  const { versions, highest } = await findVersions(store);
  state.transaction(() => {
    if (state.currentVersion() !== null) return;
    state.values.set("highest", highest);
    for (const manifest of versions) state.addVersion(manifest);
  });
}

/**
 * Replicates the version that awaits it; only then its job ends as published. Throws as
 * `replicate` does.
 */
export async function replicatePublished({
  state,
  store,
}: Pick<CoordinatorPlatform, "state" | "store">): Promise<void> {
  const manifest = state.unreplicated();
  if (manifest === null) return;
  await replicate(store, manifest);
  state.setReplicated(manifest.generation);
}

/**
 * Lists the versions in the stores, oldest first, and the highest generation there, readable or not.
 * Throws StoreError if a store fails.
 */
export async function findVersions(
  store: CatalogStore,
): Promise<{ readonly versions: Manifest[]; readonly highest: number }> {
  const found = new Map<number, Manifest>();
  const generations = (await store.listGenerations()).toSorted((a, b) => b - a);
  for (const generation of generations) take(await store.readGeneration(generation));
  for (const replica of ["r2", "kv"] as const) take(await store.readManifest(replica));
  const versions = [...found.values()].toSorted((a, b) => a.generation - b.generation);
  return { versions, highest: Math.max(0, ...generations, ...found.keys()) };

  function take(copy: Awaited<ReturnType<CatalogStore["readManifest"]>>): void {
    if (copy.ok) found.set(copy.value.generation, copy.value);
    else if (copy.fault === "unreadable") throw new StoreError(copy.detail);
  }
}

export type RollbackResult =
  | {
      readonly ok: true;
      readonly version: Version;
      /** False if the current version, which is then `version`, has that content already. */
      readonly changed: boolean;
      /** Whether ingestion is paused. A rollback publishes even then. */
      readonly paused: boolean;
    }
  | { readonly ok: false; readonly reason: "not_retained" | "blobs_lost" }
  | { readonly ok: false; readonly reason: "foreign_stores"; readonly detail: string }
  | { readonly ok: false; readonly reason: "generation_changed"; readonly current: number };

interface Rollback {
  /** The retained version to publish again. */
  readonly generation: number;
  /** The generation that must be current, if something is to change. Absent: any. */
  readonly expected: number | undefined;
  /** Publication time (RFC 3339). */
  readonly at: string;
}

/**
 * Publishes a retained version again under a new generation, unless its content is published
 * already. Idempotent.
 */
export function rollBack(
  state: CoordinatorState,
  { generation, expected, at }: Rollback,
): RollbackResult {
  return state.transaction((): RollbackResult => {
    const current = state.currentVersion();
    const earlier = state.findRetained(generation);
    if (current === null || earlier === undefined) return { ok: false, reason: "not_retained" };
    const changed = !isSameContent(earlier, current);
    if (changed && expected !== undefined && expected !== current.generation)
      return { ok: false, reason: "generation_changed", current: current.generation };
    const manifest = changed ? rolledBack(earlier, current, at) : current;
    if (changed) state.addVersion(manifest);
    const version = describeVersion(manifest, state.versions());
    return { ok: true, version, changed, paused: state.pause() !== null };
  });
}
