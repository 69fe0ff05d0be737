/** What a run keeps of what it would change. Pure: no clock, no I/O. */
import type { CatalogDiff, ListDiff } from "../catalog/diff.ts";
import { asEvidence } from "../catalog/evidence.ts";

/** Entities of each list that a run keeps as added, as changed and as removed; it counts them all. */
export const CHANGES_LISTED = 10;
/** Airport codes of a region that it keeps; some regions have thousands. */
const CODES_KEPT = 20;
/** Length to which a text is cut. */
const TEXT_MAX_LENGTH = 80;

/**
 * The first changes of a candidate, in the shape of a diff of two versions. Texts and airport codes
 * are cut, so that it stays under 500 kB whatever upstream says (mostly it has 20): it goes into one
 * row with the run, and D1 and Durable Objects take rows of 2 MB.
 */
export interface ChangeSample extends CatalogDiff {
  /** Of the localized names that were compared. */
  readonly locale: string;
}

const NO_DIFFERENCE = {
  counts: { added: 0, changed: 0, removed: 0 },
  added: [],
  changed: [],
  removed: [],
};

/** The sample of a candidate that changes nothing. */
export function nothingChanged(locale: string): ChangeSample {
  return {
    locale,
    airports: NO_DIFFERENCE,
    cities: NO_DIFFERENCE,
    countries: NO_DIFFERENCE,
    regions: NO_DIFFERENCE,
  };
}

/** Cuts a diff of `CHANGES_LISTED` to what a run keeps. */
export function sampleChanges(diff: CatalogDiff, locale: string): ChangeSample {
  const { airports, cities, countries, regions } = diff;
  return {
    locale,
    airports: cutList(airports),
    cities: cutList(cities),
    countries: cutList(countries),
    regions: cutList(regions),
  };
}

function cutList<F, C>({ counts, added, changed, removed }: ListDiff<F, C>): ListDiff<F, C> {
  const cutAll = <T>(entities: readonly T[]) => entities.slice(0, CHANGES_LISTED).map(cut);
  return { counts, added: cutAll(added), changed: cutAll(changed), removed: cutAll(removed) };
}

/** A value with its texts cut, and its lists, which are of airport codes. */
function cut<T>(value: T): T {
  return shorter(value) as T; // `shorter` keeps every key and type
}

function shorter(value: unknown): unknown {
  if (typeof value === "string") return asEvidence(value, TEXT_MAX_LENGTH);
  if (Array.isArray(value)) return value.slice(0, CODES_KEPT).map(shorter);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorter(item)]));
}
