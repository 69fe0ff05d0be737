/**
 * How a version is published:
 *
 * 1. A run stores and proves the parts, and returns the content (`ingest/pipeline.ts`). No manifest
 *   names the parts yet.
 * 2. `recordVersion` numbers the content in a transaction. From then on it is published, whatever
 *   fails.
 * 3. `replicatePublished` writes the manifest to R2 and KV, where readers find it. The job that
 *   recorded the version or the reconciler repeats it until R2 shows that version, and KV no newer one.
 *
 * A rollback, a restore, a takeover and the replacement of an unknown version start at the second step
 * with the content of an earlier version.
 */
import type { Manifest, VersionContent } from "../parts/manifest.ts";
import { manifestSchema } from "../parts/manifest-schema.ts";
import { serializeManifest } from "../parts/stored-manifest.ts";
import { isSameContent } from "../ingest/content.ts";
import type { CatalogStore, Copy } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import { ForeignStores } from "../storage/ownership.ts";
import type { Instant } from "../platform/units.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import type { CoordinatorState } from "./state.ts";
import type { Log } from "../platform/log.ts";
import { misfitOf } from "../platform/parse-json.ts";
import { isAdoptable, isPublishable } from "../platform/ranges.ts";
import type { Version } from "../schemas/version.ts";
import { describeVersion } from "./versions.ts";

interface Recorded {
  readonly at: Instant;
  /** A generation that the new one must exceed, as it must all published ones. */
  readonly above?: number;
}

/**
 * Records a content as the version published last. Call it in a transaction.
 *
 * @throws Error if nobody could read the content again.
 */
export function recordVersion(
  state: CoordinatorState,
  content: VersionContent,
  { at, above = 0 }: Recorded,
): Manifest {
  const numbers = {
    generation: Math.max(state.lastGeneration(), above) + 1,
    published_at: at,
    previous: state.currentVersion()?.generation ?? null,
  };
  // In the order of a manifest from a backup. The content may be a version, with its own numbers.
  const first = { format: content.format, ...numbers };
  const manifest: Manifest = { ...first, ...content, ...numbers };
  const problem = misfitOf(manifest, manifestSchema);
  if (problem !== null) throw new Error(`the version cannot be recorded: ${problem}`);
  state.addVersion(manifest);
  return manifest;
}

/**
 * Records the versions of the stores in a new coordinator, which has none. Generations then continue to
 * rise, the guards compare with the served version, and served files do not count as garbage. Of an
 * unreadable version, it records the generation.
 *
 * @returns the problems of the manifests that it has not adopted.
 * @throws StoreError if a store fails.
 */
export async function adoptVersions(
  state: CoordinatorState,
  store: CatalogStore,
): Promise<readonly string[]> {
  if (state.currentVersion() !== null) return [];
  const { versions, highest, unusable } = await findVersions(store);
  state.transaction(() => {
    if (state.currentVersion() !== null) return;
    state.values.set("highest", highest);
    for (const manifest of versions) state.addVersion(manifest);
  });
  return unusable;
}

/** Names the versions of the stores that were not adopted. */
export function logUnusable(log: Log, problems: readonly string[]): void {
  if (problems.length > 0) log("error", "versions_unusable", { problems });
}

/** A recorded version has disappeared. The message says what to do. */
export class VersionLost extends Error {
  override readonly name = "VersionLost";

  constructor(generation: number) {
    super(
      `the coordinator has lost version ${generation}, which it had recorded: see GET /admin/monitor/set-aside, and GET /admin/catalog/versions for what is published instead; then repeat the request`,
    );
  }
}

/**
 * Replicates the version that awaits replication. Only then its job ends as published. Throws as
 * `replicate` does.
 *
 * @param promised the generation of the job.
 * @throws VersionLost if neither that generation nor a later one is published.
 */
export async function replicatePublished(
  { state, store }: Pick<CoordinatorPlatform, "state" | "store">,
  promised: number,
): Promise<void> {
  const manifest = state.unreplicated();
  if (manifest !== null) {
    await replicate(store, manifest);
    state.setReplicated(manifest.generation);
  }
  if ((state.currentVersion()?.generation ?? 0) < promised) throw new VersionLost(promised);
}

/**
 * Replicates a published version to R2 and KV, and reads both. Idempotent. Throws StoreError if a store
 * fails, if R2 shows another version, or if KV shows a newer one. Throws ForeignStores as `checkOwner`
 * does, unless the stores showed the version before another owner took them over.
 *
 * Accepted race: KV's edge cache may show the previous version, or none, for about a minute after the
 * write. Only a newer generation is therefore a fault of KV.
 */
export async function replicate(store: CatalogStore, manifest: Manifest): Promise<void> {
  const { generation } = manifest;
  try {
    await store.writeManifest(manifest);
  } catch (cause) {
    if (!(cause instanceof ForeignStores)) throw cause;
    const kept = await store.readGeneration(generation);
    if (!kept.ok && kept.fault === "unreadable") throw new StoreError(kept.detail);
    if (kept.ok && isSame(kept.value, manifest)) return;
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
 * version, or one that nobody could publish above. Does nothing if a store shows another version that
 * this installation has not published, because KV may be another installation's namespace. Throws
 * StoreError as `replicate` does.
 *
 * @returns the highest generation of an unknown version; null if there is none.
 */
export async function repairCopies(
  store: CatalogStore,
  manifest: Manifest,
): Promise<{ readonly unknown: number | null; readonly isRepaired: boolean }> {
  const copies = [await store.readManifest("r2"), await store.readManifest("kv")];
  const shown = copies.map((copy) => ({
    generation: copy.ok ? copy.value.generation : 0,
    isKnown: copy.ok && isSame(copy.value, manifest),
  }));
  const unknown = shown.flatMap(({ generation, isKnown }) =>
    !isKnown && generation >= manifest.generation && isAdoptable(generation) ? generation : [],
  );
  if (unknown.length > 0) return { unknown: Math.max(...unknown), isRepaired: false };
  const isRepaired = !shown.every(({ isKnown }) => isKnown);
  if (isRepaired) await replicate(store, manifest);
  return { unknown: null, isRepaired };
}

/** Whether a store has exactly this manifest. Parts of the stored one may not have been parsed yet. */
function isSame(stored: Manifest, manifest: Manifest): boolean {
  try {
    return serializeManifest(stored) === serializeManifest(manifest);
  } catch {
    return false;
  }
}

/** The versions in the stores of an installation that does not know them. */
interface FoundVersions {
  /** Those that it can record, oldest first. */
  readonly versions: Manifest[];
  /** The highest generation that readers may know, even of a version that cannot be recorded. */
  readonly highest: number;
  /** The problems of the other manifests. */
  readonly unusable: string[];
}

/** Finds the versions in the stores. Throws StoreError if a store fails. */
export async function findVersions(store: CatalogStore): Promise<FoundVersions> {
  const generations = (await store.listGenerations()).filter(isPublishable);
  const copies = [];
  for (const generation of generations.toSorted((a, b) => b - a))
    copies.push(await store.readGeneration(generation));
  for (const replica of ["r2", "kv"] as const) copies.push(await store.readManifest(replica));
  const found = new Map<number, Manifest>();
  const unusable: string[] = [];
  for (const copy of copies) {
    if (!copy.ok && copy.fault === "unreadable") throw new StoreError(copy.detail);
    if (copy.ok && isPublishable(copy.value.generation)) generations.push(copy.value.generation);
    const problem = problemOf(copy);
    if (problem !== null) unusable.push(problem);
    else if (copy.ok) found.set(copy.value.generation, copy.value);
  }
  const versions = [...found.values()].toSorted((a, b) => a.generation - b.generation);
  return { versions, highest: Math.max(0, ...generations), unusable };
}

/** Explains why a store's manifest cannot be recorded; null if it can, or if there is none. */
function problemOf(copy: Copy<Manifest>): string | null {
  if (!copy.ok) return copy.fault === "corrupt" ? copy.detail : null;
  const { generation } = copy.value;
  if (!isPublishable(generation))
    return `generation ${generation} is too high: no installation has published it`;
  try {
    const problem = misfitOf(copy.value, manifestSchema);
    return problem && `generation ${generation}: ${problem}`;
  } catch (error) {
    return `generation ${generation}: ${String(error)}`; // of a line that nobody had read
  }
}

/** A version is published, but a store does not show it yet. */
export interface NotShown<Published> {
  readonly ok: false;
  readonly reason: "not_shown";
  readonly detail: string;
  readonly published: Published;
}

export interface RolledBack {
  readonly version: Version;
  /** False if the current version, which is then `version`, has that content already. */
  readonly changed: boolean;
  /** Whether ingestion is paused. A rollback publishes even then. */
  readonly paused: boolean;
}

export type RollbackResult =
  | ({ readonly ok: true } & RolledBack)
  | { readonly ok: false; readonly reason: "not_retained" | "blobs_lost" }
  | { readonly ok: false; readonly reason: "foreign_stores"; readonly detail: string }
  | NotShown<RolledBack>
  | { readonly ok: false; readonly reason: "generation_changed"; readonly current: number };

interface Rollback {
  /** The retained version to publish again. */
  readonly generation: number;
  /** The generation that must be current for a change; any if absent. */
  readonly expected: number | undefined;
  readonly at: Instant;
}

/** Publishes a retained version again, unless its content is published already. Idempotent. */
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
    const manifest = changed ? recordVersion(state, earlier, { at }) : current;
    const version = describeVersion(manifest, state.versions());
    return { ok: true, version, changed, paused: state.pause() !== null };
  });
}
