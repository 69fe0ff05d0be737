import { type CatalogDiff, countChanges, diffCatalogs } from "../catalog/diff.ts";
import { listPieces, localPieces } from "../catalog/encode.ts";
import type { AirportSet, Counts, Manifest } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { tryReadBody } from "../storage/read-body.ts";
import { StoreError } from "../storage/deadline.ts";
import { type ChangeSample, nothingChanged, sampleChanges } from "./change-sample.ts";
import type { Parsed } from "./accounting.ts";
import type { Content } from "./content.ts";
import { DIFF_LISTED } from "./diffs.ts";
import { checkGuards, type GuardTrip } from "./guards.ts";
import type { Workspace } from "./workspace.ts";

interface Candidate {
  readonly workspace: Workspace;
  readonly content: Content;
  readonly parsed: Parsed;
  /** Locales to publish. */
  readonly locales: readonly string[];
  /** Preferred locale of the change sample. */
  readonly defaultLocale: string;
  readonly airportSet: AirportSet;
}

/** The tripped guards of a candidate, and its changes to the published version. */
interface Verdict {
  readonly trips: readonly GuardTrip[];
  /** Null before the first publication, or if no copy of the published version is intact. */
  readonly changes: ChangeSample | null;
  /** The changes of which `changes` is a sample; null if there are none as well. */
  readonly diff: CatalogDiff | null;
}

/** Compares a candidate with the published version, for the guards. Throws if a store fails. */
export async function judge(
  candidate: Candidate,
  current: Manifest | null,
  store: CatalogStore,
): Promise<Verdict> {
  const { content, parsed, airportSet } = candidate;
  const found = current && (await findChanges(candidate, current, store));
  const changes = found && found.changes;
  const published = current && { ...current, changes: changes && countChanges(changes) };
  const trips = checkGuards({ ...parsed, ...content, published, airportSet });
  return { trips, changes, diff: found && found.diff };
}

/**
 * Finds a candidate's changes; null if no copy of the published version is intact. Equal content
 * needs no copy. Regions vary with the locale, so the comparison uses a locale of both versions,
 * preferably the default one.
 */
async function findChanges(
  { workspace, content, locales, defaultLocale }: Candidate,
  current: Manifest,
  store: CatalogStore,
): Promise<Pick<Verdict, "changes" | "diff"> | null> {
  const isCommon = (name: string) => current.locales[name] !== undefined;
  const locale = [defaultLocale, ...locales].find(isCommon) ?? defaultLocale;
  if (content.catalog_sha256 === current.catalog_sha256)
    return { changes: nothingChanged(locale), diff: null };
  const before = current.locales[locale]?.bodies.proto.identity;
  const copy = before && (await tryReadBody(store, before));
  if (copy?.ok === false) {
    if (copy.fault === "unreadable") throw new StoreError(copy.detail);
    return null;
  }
  const { catalog } = workspace;
  const names = await workspace.namesIn(locale);
  const after = (list: keyof Counts) =>
    list === "regions"
      ? localPieces(catalog.regions, names, "proto")
      : listPieces(catalog, list, "proto");
  const published = copy?.value ?? new Uint8Array();
  const diff = diffCatalogs({ before: published, after, maxListed: DIFF_LISTED });
  return { changes: sampleChanges(diff, locale), diff };
}
