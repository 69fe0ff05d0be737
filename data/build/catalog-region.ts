/** A region of the catalog: a macro-region of UN M49 or an ISO 3166-2 subdivision that has an airport. */
export interface CatalogRegion {
  /** `m49:150` or `iso3166-2:FR-OCC`. */
  readonly key: string;
  readonly slug: string;
  readonly name: string;
  /** Countries of a macro-region, upstream codes of a subdivision. */
  readonly members: readonly string[];
  /** Where CLDR keeps its localized names: an M49 code, a subdivision or a territory code; null where nowhere. */
  readonly cldr: string | null;
}

/** A region before it has a slug; `country` is empty for a macro-region. */
export interface PlainRegion extends Omit<CatalogRegion, "slug"> {
  readonly country: string;
  readonly upstreamName: string;
}

const SUBDIVISION = "iso3166-2:";

/** Whether a key is a subdivision's and not a macro-region's. */
export function isSubdivision(key: string): boolean {
  return key.startsWith(SUBDIVISION);
}

/** The country of a subdivision, `FR` of `iso3166-2:FR-OCC`; empty for a macro-region. */
export function countryOfRegion(key: string): string {
  return isSubdivision(key) ? key.slice(SUBDIVISION.length).slice(0, 2) : "";
}
