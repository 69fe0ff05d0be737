/** Makes the diffs from earlier contents to a new version, once. Apps read them instead of the whole catalog. */
import { type CatalogDiff, diffSharedLists, diffRegions } from "../catalog/diff.ts";
import { listPieces } from "../catalog/encode.ts";
import { type ListDiff, NO_DIFFERENCE } from "../catalog/list-diff.ts";
import type { LocaleEntry, Manifest, StoredDiff, StoredPart } from "../parts/manifest.ts";
import type { Catalog, Counts } from "../catalog/model.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { type HashedBlob, hashBlob } from "./locale-parts.ts";
import type { EncodeContext } from "./step.ts";
import { type PartStore, readLocalePart, readPart } from "./part-store.ts";

/** Number of earlier contents with a diff: enough for an app that looks every third day. */
const CONTENTS_DIFFED = 3;

/** Maximum number of listed changes of a list, to bound the memory. With more, there is no diff. */
export const DIFF_LISTED = 1_000;

/**
 * Selects the newest version of each of the last contents before a new one. Leaves out a version with a
 * locale that is no longer published: an app in that locale would get the changes of another locale.
 *
 * @param versions newest first.
 */
export function earlierContents(
  versions: readonly Manifest[],
  catalogSha256: Sha256Hex,
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

type SharedListsDiff = ReturnType<typeof diffSharedLists>;

interface LocalRegions {
  readonly locale: string;
  /** The regions in the locale, without a coding. */
  readonly regions: Uint8Array;
  /** The same in gzip, as it is stored. */
  readonly part: StoredPart;
}

/**
 * Compares a new content with earlier ones and stores the diffs, locale by locale. Skips a content
 * without an intact copy, and one that differs too much. Throws StoreError if a store fails.
 */
export class DiffMaker {
  readonly #store: Pick<CatalogStore, "readBlob">;
  readonly #parts: PartStore;

  constructor(store: Pick<CatalogStore, "readBlob">, parts: PartStore) {
    this.#store = store;
    this.#parts = parts;
  }

  async start(
    catalog: Catalog,
    earlier: readonly Manifest[],
    context: Pick<EncodeContext, "mustStoreAll" | "current">,
  ): Promise<StoredDiff[]> {
    const diffs: StoredDiff[] = [];
    const blobs: HashedBlob[] = [];
    for (const version of earlier) {
      const { generation, published_at, catalog_sha256 } = version;
      const lists = await this.#compareSharedLists(version, catalog);
      const common = lists && encodeLists(lists, ["airports", "cities", "countries"]);
      if (common === null) continue;
      diffs.push({
        generation,
        published_at,
        catalog_sha256,
        common: common.sha256,
        local: {},
      });
      blobs.push(common);
    }
    await this.#parts.write(distinct(blobs, []), context);
    return diffs;
  }

  /** Adds the regions of a locale to the diffs from contents with that locale. */
  async addLocale(
    diffs: readonly StoredDiff[],
    { locale, regions, part }: LocalRegions,
    context: EncodeContext,
  ): Promise<StoredDiff[]> {
    const added: StoredDiff[] = [];
    const blobs: HashedBlob[] = [];
    for (const diff of diffs) {
      const before = context.retained.findRetained(diff.generation)?.locales[locale];
      const lists = await this.#compareRegions(before, { regions, part });
      const regionsBlob = lists && encodeLists(lists, ["regions"]);
      if (regionsBlob !== null) blobs.push(regionsBlob);
      added.push(
        regionsBlob ? { ...diff, local: { ...diff.local, [locale]: regionsBlob.sha256 } } : diff,
      );
    }
    await this.#parts.write(distinct(blobs, diffs), context);
    return added;
  }

  async #compareSharedLists(version: Manifest, catalog: Catalog): Promise<SharedListsDiff | null> {
    const before = await readPart(this.#store, version.shared.proto.identity);
    const after = (list: keyof Counts) =>
      list === "regions" ? [] : listPieces(catalog, list, "proto");
    return before && diffSharedLists({ before, after, maxListed: DIFF_LISTED });
  }

  async #compareRegions(
    entry: LocaleEntry | undefined,
    { regions, part }: Pick<LocalRegions, "regions" | "part">,
  ): Promise<Pick<CatalogDiff, "regions"> | null> {
    const stored = entry?.parts.proto;
    if (stored === undefined) return null;
    if (stored.gzip.sha256 === part.sha256) return { regions: NO_DIFFERENCE };
    const before = await readLocalePart(this.#store, stored);
    const pair = before && { before, after: () => [regions], maxListed: DIFF_LISTED };
    return pair && { regions: diffRegions(pair) };
  }
}

/** Encodes some lists as members of a JSON object; null if they do not list every difference. */
function encodeLists<L extends keyof Counts>(
  diff: { readonly [list in L]: ListDiff<unknown, unknown> },
  lists: readonly L[],
): HashedBlob | null {
  const isWhole = lists.every((list) => {
    const { counts, added, changed, removed } = diff[list];
    const listed = added.length + changed.length + removed.length;
    return listed === counts.added + counts.changed + counts.removed;
  });
  if (!isWhole) return null;
  const text = JSON.stringify(Object.fromEntries(lists.map((list) => [list, diff[list]])));
  return hashBlob(new TextEncoder().encode(text.slice(1, -1)));
}

/**
 * Selects, once each, the blobs that no diff names yet, because KV accepts one write per second for
 * each key.
 */
function distinct(blobs: readonly HashedBlob[], diffs: readonly StoredDiff[]): HashedBlob[] {
  const stored = new Set(diffs.flatMap(({ local }) => Object.values(local)));
  const found = new Map(blobs.map((blob) => [blob.sha256, blob]));
  return [...found.values()].filter(({ sha256 }) => !stored.has(sha256));
}
