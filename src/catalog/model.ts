/**
 * The domain model of the catalog. Ids are the 16 bytes of a UUID. Every string is NFC and trimmed;
 * only `icao` and `phonePrefix` may be empty.
 */

export interface Airport {
  readonly id: Uint8Array;
  readonly iata: string;
  /** Four letters, or empty. */
  readonly icao: string;
  readonly name: string;
  /** Degrees, four decimals. */
  readonly lat: number;
  readonly lon: number;
  readonly cityId: Uint8Array;
}

export interface City {
  readonly id: Uint8Array;
  readonly name: string;
  readonly countryId: Uint8Array;
  /** Degrees, four decimals. */
  readonly lat: number;
  readonly lon: number;
}

export interface Country {
  readonly id: Uint8Array;
  readonly isoCode2: string;
  readonly isoCode3: string;
  readonly nameEng: string;
  readonly nameNative: string;
  /** Digits without a plus sign, or empty. */
  readonly phonePrefix: string;
}

export interface Region {
  readonly id: Uint8Array;
  /** Key of the localized names: `m49:029`, `iso3166-2:FR-OCC` or `travel:benelux`. */
  readonly key: string;
  readonly slug: string;
  readonly name: string;
  /** Ascending. */
  readonly airportIataCodes: readonly string[];
}

/**
 * The catalog without localized names. Airports are sorted by IATA code, cities and countries by
 * id, regions by slug.
 */
export interface Catalog {
  readonly airports: readonly Airport[];
  readonly cities: readonly City[];
  readonly countries: readonly Country[];
  readonly regions: readonly Region[];
}

/** Name and slug of a region in one locale. */
export interface LocalizedName {
  readonly name: string;
  readonly slug: string;
}

/** Names of one locale by region key. A missing region has its English name and base slug. */
export type RegionNames = ReadonlyMap<string, LocalizedName>;
