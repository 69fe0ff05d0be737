import { blobsOf, type Manifest } from "../parts/manifest.ts";
import { DAY_MS, HOUR_MS } from "../platform/time.ts";
import type { Sha256Hex } from "../platform/units.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";

/** Age from which an unreferenced file is garbage. */
const GARBAGE_AGE_MS = DAY_MS;
const COLLECTION_INTERVAL_MS = HOUR_MS;
/** Maximum number of deletions of each kind in one call. */
const DELETIONS_PER_CALL = 100;

type Kind = "blob" | "source" | "manifest";

/**
 * Deletes blobs, upstream files and manifests that nothing has referenced for a day. It lists R2, and
 * so also finds files that this coordinator has not stored. Does nothing within an hour of the last
 * complete collection, nor while a job is in progress: a run has stored blobs that no version
 * references yet, and a pause may stop it for days.
 *
 * Accepted race: a store may carry out a deletion up to a minute late, and delete a file that was
 * stored again under the same name. Readers then use the other copy, and an alert reports it.
 *
 * @returns how many files of each kind it has deleted; null if it did nothing.
 * @throws StoreError if a store fails. The next call continues.
 */
export async function collectGarbage(
  platform: CoordinatorPlatform,
): Promise<{ readonly [K in Kind]: number } | null> {
  const { state, store, archive, now } = platform;
  const last = state.values.get("collected_at") ?? 0;
  const isDue = now() - last >= COLLECTION_INTERVAL_MS;
  // Without a version everything would be garbage.
  const isKnown = state.currentVersion() !== null && state.unreplicated() === null;
  if (!isDue || !isKnown || state.queue().running.length > 0) return null;
  const garbage = await findGarbage(platform);
  // Manifests first, because readers report the lost blobs of a listed version as a loss of data.
  const manifest = await remove(garbage, "manifest", (names) =>
    store.deleteGenerations(names.map(Number)),
  );
  const blob = await remove(garbage, "blob", (names) => store.deleteBlobs(names));
  const source = await remove(garbage, "source", (names) => archive.delete(names));
  if (blob + source + manifest === garbage.length) state.values.set("collected_at", now());
  return { blob, source, manifest };
}

/** Lists the garbage as `<kind> <name>`. */
async function findGarbage(platform: CoordinatorPlatform): Promise<string[]> {
  const { state, store, archive, now } = platform;
  const [blobs, sources, generations] = [
    await store.listBlobs(),
    await archive.list(),
    await store.listGenerations(),
  ];
  return state.transaction(() => {
    const retained = state.versions();
    const named = blobsOf(...retained);
    const unreferenced = [
      ...blobs.filter((sha256) => !named.has(sha256)).map((sha256) => `blob ${sha256}`),
      ...unreferencedSources(sources, retained, state.neededFiles()).map(
        (name) => `source ${name}`,
      ),
      ...unretained(generations, retained).map((generation) => `manifest ${generation}`),
    ];
    return state.garbage.mark(unreferenced, now(), GARBAGE_AGE_MS);
  });
}

/** Selects the stored upstream files that neither a retained version nor a later run needs. */
function unreferencedSources(
  stored: readonly Sha256Hex[],
  retained: readonly Manifest[],
  needed: readonly Sha256Hex[],
): Sha256Hex[] {
  const named = new Set([...needed, ...retained.flatMap(({ sources }) => Object.values(sources))]);
  return stored.filter((sha256) => !named.has(sha256));
}

/** Selects the generations of stored manifests whose versions are not retained. */
function unretained(stored: readonly number[], retained: readonly Manifest[]): number[] {
  const kept = new Set(retained.map(({ generation }) => generation));
  return stored.filter((generation) => !kept.has(generation));
}

/** Deletes up to `DELETIONS_PER_CALL` pieces of garbage of one kind. Returns their number. */
async function remove(
  garbage: readonly string[],
  kind: Kind,
  deleteAll: (names: readonly string[]) => Promise<void>,
): Promise<number> {
  const prefix = `${kind} `;
  const ofKind = garbage.filter((piece) => piece.startsWith(prefix));
  const names = ofKind.slice(0, DELETIONS_PER_CALL).map((piece) => piece.slice(prefix.length));
  await deleteAll(names);
  return names.length;
}
