/** A region of the catalog. */
export interface CatalogRegion {
  /**
   * `m49:150` (UN M49), `iso3166-1:PR` (a territory without subdivisions), `iso3166-2:FR-OCC`
   * or `travel:benelux` (curated).
   */
  readonly key: string;
  readonly slug: string;
  /** English; where several countries have a region of this name, with the country. */
  readonly name: string;
  /** English, without the country. */
  readonly bareName: string;
  /** Countries (`FR`), upstream codes of subdivisions (`FR-OCC`) and IATA codes (`TLS`). */
  readonly members: readonly string[];
  /** Codes under which CLDR has its localized names, the best first: M49, subdivision or territory codes. */
  readonly cldr: readonly string[];
}

/** A region before it has a slug. */
export interface PlainRegion extends Omit<CatalogRegion, "slug" | "bareName"> {}

const SUBDIVISION = "iso3166-2:";
const TERRITORY = "iso3166-1:";

/** The key of the subdivision with an upstream code, `iso3166-2:FR-OCC` of `FR-OCC`. */
export function subdivisionKey(code: string): string {
  return SUBDIVISION + code;
}

/** The code in a key, `FR-OCC` of `iso3166-2:FR-OCC`. */
export function codeOfRegion(key: string): string {
  return key.slice(key.indexOf(":") + 1);
}

/** Whether a key is that of a part of a country, or of a territory that has no parts. */
export function isSubdivision(key: string): boolean {
  return key.startsWith(SUBDIVISION) || key.startsWith(TERRITORY);
}

/** Whether a key is that of a region that travellers know and no standard has. */
export function isTravelRegion(key: string): boolean {
  return key.startsWith("travel:");
}

/** The country of a subdivision, `FR` of `iso3166-2:FR-OCC`; empty for all other regions. */
export function countryOfRegion(key: string): string {
  return key.startsWith(SUBDIVISION) ? ownCountry(key) : "";
}

/** The country of a subdivision, and the one that a territory is; empty for all other regions. */
export function ownCountry(key: string): string {
  return isSubdivision(key) ? codeOfRegion(key).slice(0, 2) : "";
}
