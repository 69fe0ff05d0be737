import { countChanges, diffCatalogs } from "../catalog/diff.ts";
import type { Counts } from "../catalog/model.ts";
import { composeBody } from "../parts/compose.ts";
import type { AirportSet, Manifest } from "../parts/manifest.ts";
import { listPieces, localePieces } from "../catalog/encode.ts";
import { type CatalogStore, tryReadBody } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import type { Parsed } from "./accounting.ts";
import type { Content } from "./content.ts";
import {
  type ChangeSample,
  CHANGES_LISTED,
  nothingChanged,
  sampleChanges,
} from "./change-sample.ts";
import { checkGuards, type GuardTrip } from "./guards.ts";
import type { Workspace } from "./workspace.ts";

interface Candidate {
  readonly workspace: Workspace;
  readonly content: Content;
  readonly parsed: Parsed;
  readonly locales: readonly string[];
  readonly defaultLocale: string;
  readonly airportSet: AirportSet;
}

/** The tripped guards of a candidate, and its changes to the published version. */
interface CandidateVerdict {
  readonly trips: readonly GuardTrip[];
  /** Null before the first publication, or if no copy of the published version is intact. */
  readonly changes: ChangeSample | null;
}

/** Compares a candidate with the published version, for the guards. Throws if a store fails. */
export async function guardCandidate(
  candidate: Candidate,
  current: Manifest | null,
  store: CatalogStore,
): Promise<CandidateVerdict> {
  const { content, parsed, airportSet } = candidate;
  const changes = current && (await findChanges(candidate, current, store));
  const published = current && { ...current, changes: changes && countChanges(changes) };
  const trips = checkGuards({ ...parsed, ...content, published, airportSet });
  return { trips, changes };
}

/**
 * Finds a candidate's changes; null if no copy of the published version is intact. Equal content needs
 * no copy. Regions vary with the locale, so the comparison uses a locale of both versions, preferably
 * the default one. If no locale is in both, such as after a restore with other settings, it leaves out
 * the localized fields, because upstream has not changed them.
 */
async function findChanges(
  { workspace, content, locales, defaultLocale }: Candidate,
  current: Manifest,
  store: CatalogStore,
): Promise<ChangeSample | null> {
  const isCommon = (name: string) => current.locales[name] !== undefined;
  const common = [defaultLocale, ...locales].find(isCommon);
  const locale = common ?? defaultLocale;
  if (content.catalog_sha256 === current.catalog_sha256) return nothingChanged(locale);
  const name = common ?? Object.keys(current.locales)[0] ?? "";
  const wanted = { locale: name, representation: "proto", coding: "identity" } as const;
  const body = composeBody(current, wanted);
  if (body === undefined) return null;
  const copy = await tryReadBody(store, body);
  if (!copy.ok) {
    if (copy.fault === "unreadable") throw new StoreError(copy.detail);
    return null;
  }
  const { catalog } = workspace;
  const names = await workspace.namesIn(locale);
  const after = (list: keyof Counts) =>
    list === "regions"
      ? localePieces(catalog.regions, names, "proto")
      : listPieces(catalog, list, "proto");
  const diff = diffCatalogs({
    before: copy.value,
    after,
    maxListed: CHANGES_LISTED,
    isOfTwoLocales: common === undefined,
  });
  return sampleChanges(diff, locale);
}
