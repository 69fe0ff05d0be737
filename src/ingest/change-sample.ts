/** The changes of a candidate that a run stores. */
import type { CatalogDiff } from "../catalog/diff.ts";
import { asEvidence } from "../catalog/evidence.ts";
import { NO_DIFFERENCE } from "../catalog/list-diff.ts";

/** Maximum number of added, changed and removed entities of each list in a sample. The counts include all. */
export const CHANGES_LISTED = 10;
/** Maximum number of airport codes of a region; some regions have thousands. */
const CODES_KEPT = 20;
const TEXT_MAX_LENGTH = 80;

/**
 * The first changes of a candidate, in the shape of a diff of two versions. Shortened texts and lists
 * keep it under 500 kB whatever upstream sends (20 kB is usual), because D1 and Durable Objects limit
 * the row of a run to 2 MB.
 */
export interface ChangeSample extends CatalogDiff {
  /** Locale of the compared names. */
  readonly locale: string;
}

export function nothingChanged(locale: string): ChangeSample {
  return {
    locale,
    airports: NO_DIFFERENCE,
    cities: NO_DIFFERENCE,
    countries: NO_DIFFERENCE,
    regions: NO_DIFFERENCE,
  };
}

/** Shortens the texts and the lists of airport codes of a diff. */
export function sampleChanges(diff: CatalogDiff, locale: string): ChangeSample {
  return { locale, ...(shorter(diff) as CatalogDiff) }; // keeps every key and type
}

function shorter(value: unknown): unknown {
  if (typeof value === "string") return asEvidence(value, TEXT_MAX_LENGTH);
  if (Array.isArray(value)) return value.slice(0, CODES_KEPT).map(shorter);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorter(item)]));
}
