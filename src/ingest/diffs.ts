/**
 * Makes the diffs that lead to a version from the contents before it, once, when it is published.
 * Apps that have one of these contents read them instead of the whole catalog.
 */
import {
  type CatalogDiff,
  diffCommon,
  diffRegions,
  type KnownCodes,
  type ListDiff,
} from "../catalog/diff.ts";
import { listPieces } from "../catalog/encode.ts";
import { sha256Hex } from "../catalog/hash.ts";
import type { Counts, LocaleEntry, Manifest, StoredDiff } from "../catalog/manifest.ts";
import type { Catalog } from "../catalog/model.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { tryReadBody } from "../storage/read-body.ts";
import { StoreError } from "../storage/store-error.ts";
import { type Blob, type StoredSegment, toBlob } from "./bodies.ts";
import { NO_DIFFERENCE } from "./change-sample.ts";

/**
 * Number of earlier contents with a diff. A catalog changes at most once a day, so an app that looks
 * every third day still finds its own.
 */
const CONTENTS_DIFFED = 3;

/**
 * Most added, changed and removed entities of each list in a diff. It bounds the memory. There is no
 * diff for more changes than these, because the whole catalog is then hardly larger.
 */
export const DIFF_LISTED = 1_000;

/** Diffs, and the blobs that they name and no earlier step has stored. */
interface Made {
  readonly diffs: readonly StoredDiff[];
  readonly blobs: readonly Blob[];
}

/**
 * Selects the newest version of each of the last contents before a new one. An app whose locale is
 * dropped would get the changes of another locale, so all their locales must still be published.
 *
 * @param versions newest first.
 */
export function earlierContents(
  versions: readonly Manifest[],
  catalogSha256: string,
  locales: readonly string[],
): Manifest[] {
  const found = new Map<string, Manifest>();
  for (const version of versions)
    if (!found.has(version.catalog_sha256)) found.set(version.catalog_sha256, version);
  found.delete(catalogSha256);
  return [...found.values()]
    .slice(0, CONTENTS_DIFFED)
    .filter((version) => Object.keys(version.locales).every((name) => locales.includes(name)));
}

type BlobReader = Pick<CatalogStore, "readBlob">;
type CommonDiff = ReturnType<typeof diffCommon>;

interface CommonRequest {
  /** The new content. */
  readonly catalog: Catalog;
  readonly earlier: readonly Manifest[];
  /** The guards' comparison with a version, which need not be made again. */
  readonly judged: { readonly generation: number; readonly diff: CommonDiff | null } | null;
  /** Diffs of an earlier judgement of the same run, with the regions of some locales. */
  readonly known: readonly StoredDiff[];
}

/**
 * Compares the lists that all locales share with earlier contents. Skips those of which no copy is
 * intact and those that differ too much. Throws StoreError if a store fails.
 */
export async function diffCommonLists(
  store: BlobReader,
  { catalog, earlier, judged, known }: CommonRequest,
): Promise<Made> {
  const diffs: StoredDiff[] = [];
  const blobs: Blob[] = [];
  for (const version of earlier) {
    const { generation, published_at, catalog_sha256 } = version;
    const lists =
      judged?.generation === generation
        ? judged.diff
        : await compareCommon(store, version, catalog);
    const common = lists && encodeLists(lists, ["airports", "cities", "countries"]);
    if (common === null) continue;
    const { local = {} } = known.find((diff) => diff.catalog_sha256 === catalog_sha256) ?? {};
    diffs.push({ generation, published_at, catalog_sha256, common: common.sha256, local });
    blobs.push(common);
  }
  return { diffs, blobs: distinct(blobs, []) };
}

async function compareCommon(
  store: BlobReader,
  version: Manifest,
  catalog: Catalog,
): Promise<CommonDiff | null> {
  const [entry] = Object.values(version.locales);
  const before = await readSegment(store, storedSegments(entry)[0]);
  const after = (list: keyof Counts) =>
    list === "regions" ? [] : listPieces(catalog, list, "proto");
  return before && diffCommon({ before, after, maxListed: DIFF_LISTED });
}

interface LocalRegions {
  readonly locale: string;
  /** The locale's own segment of the new message. */
  readonly regions: Uint8Array;
  /** SHA-256 (hex) of the new content. */
  readonly to: string;
}

interface RegionMemory {
  readonly findVersion: (generation: number) => Manifest | undefined;
  /** A cache of the changes of airport codes, by both contents. */
  readonly known: Map<string, KnownCodes>;
}

/**
 * Adds the regions of a locale to the diffs from the contents that have it. Skips those that
 * `diffCommonLists` would skip. Throws StoreError if a store fails.
 */
export async function diffLocalRegions(
  store: BlobReader,
  diffs: readonly StoredDiff[],
  { locale, regions, to }: LocalRegions,
  { findVersion, known }: RegionMemory,
): Promise<Made> {
  const made: StoredDiff[] = [];
  const blobs: Blob[] = [];
  for (const diff of diffs) {
    const segment = storedSegments(findVersion(diff.generation)?.locales[locale])[1];
    const pair = `${diff.catalog_sha256} ${to}`;
    const codes: KnownCodes = known.get(pair) ?? new Map();
    known.set(pair, codes);
    const lists = await compareRegions(store, segment, regions, codes);
    const own = lists && encodeLists(lists, ["regions"]);
    if (own !== null) blobs.push(own);
    made.push(own ? { ...diff, local: { ...diff.local, [locale]: own.sha256 } } : diff);
  }
  return { diffs: made, blobs: distinct(blobs, diffs) };
}

async function compareRegions(
  store: BlobReader,
  segment: StoredSegment | undefined,
  regions: Uint8Array,
  known: KnownCodes,
): Promise<Pick<CatalogDiff, "regions"> | null> {
  if (segment?.blob === sha256Hex(regions)) return { regions: NO_DIFFERENCE };
  const before = await readSegment(store, segment);
  const pair = before && { before, after: () => [regions], maxListed: DIFF_LISTED };
  return pair && { regions: diffRegions(pair, known) };
}

/** Returns the stored segments of a message: the lists that all locales share, and the regions. */
function storedSegments(entry: LocaleEntry | undefined): StoredSegment[] {
  const segments = entry?.bodies.proto.identity?.segments ?? [];
  return segments.filter((segment) => "blob" in segment);
}

async function readSegment(
  store: BlobReader,
  segment: StoredSegment | undefined,
): Promise<Uint8Array | null> {
  if (segment === undefined) return null;
  const { blob: sha256, bytes } = segment;
  const copy = await tryReadBody(store, { sha256, bytes, segments: [segment] });
  if (!copy.ok && copy.fault === "unreadable") throw new StoreError(copy.detail);
  return copy.ok ? copy.value : null;
}

/** Encodes some lists as members of a JSON object; null if they do not list every difference. */
function encodeLists<L extends keyof Counts>(
  diff: { readonly [list in L]: ListDiff<unknown, unknown> },
  lists: readonly L[],
): Blob | null {
  const isWhole = lists.every((list) => {
    const { counts, added, changed, removed } = diff[list];
    const listed = added.length + changed.length + removed.length;
    return listed === counts.added + counts.changed + counts.removed;
  });
  if (!isWhole) return null;
  const text = JSON.stringify(Object.fromEntries(lists.map((list) => [list, diff[list]])));
  return toBlob(new TextEncoder().encode(text.slice(1, -1)));
}

/** Selects each blob once that no diff names yet: KV takes one write per second for each key. */
function distinct(blobs: readonly Blob[], diffs: readonly StoredDiff[]): Blob[] {
  const stored = new Set(diffs.flatMap(({ local }) => Object.values(local)));
  const found = new Map(blobs.map((blob) => [blob.sha256, blob]));
  return [...found.values()].filter(({ sha256 }) => !stored.has(sha256));
}
