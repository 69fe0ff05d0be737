import { foldText } from "../catalog/fold.ts";
import { cityId, countryId } from "../catalog/ids.ts";
import { roundDegrees } from "../catalog/round-degrees.ts";
import type { City, LocalizedName, RegionNames } from "../catalog/model.ts";
import { readCsv, type CsvRow } from "./csv.ts";
import type { SourceAirport } from "./our-airports.ts";

/** Opens a file of the snapshot, uncompressed, by its name in the manifest. */
export type OpenSnapshotFile = (name: string) => ReadableStream<Uint8Array>;

/** A country of the snapshot. */
export interface ReferenceCountry {
  readonly isoCode2: string;
  readonly isoCode3: string;
  readonly nameEng: string;
  readonly nameNative: string;
  readonly phonePrefix: string;
}

/** A region of the snapshot; its slug is frozen. */
export interface ReferenceRegion {
  readonly key: string;
  readonly slug: string;
  readonly name: string;
  /** Member countries (alpha-2), subdivisions (OurAirports' codes) and airports (IATA). */
  readonly members: readonly string[];
}

/** Cities of airports in the snapshot, for any upstream. */
export interface CityTables {
  /** By city key. */
  readonly cities: ReadonlyMap<string, City>;
  /** City key by numeric OurAirports id. */
  readonly cityOfAirport: ReadonlyMap<string, string>;
  /** City key by `placeKeyOf`, for airports that are not in the previous table. */
  readonly cityOfPlace: ReadonlyMap<string, string>;
}

/** Key of a municipality within an ISO 3166-2 region; `folded` comes from `foldText`. */
export const placeKey = (region: string, folded: string): string => `${region}:${folded}`;

/** Key of an airport's place: its municipality, or its name if it has none. */
export function placeKeyOf(
  airport: Pick<SourceAirport, "region" | "municipality" | "name">,
): string {
  const { region, municipality, name } = airport;
  return placeKey(region, foldText(municipality) || foldText(name));
}

/** Reads the snapshot's countries. */
export async function readCountries(open: OpenSnapshotFile): Promise<ReferenceCountry[]> {
  return readList(open, "countries.csv.gz", (row) => ({
    isoCode2: row.get("iso_code2"),
    isoCode3: row.get("iso_code3"),
    nameEng: row.get("name_eng"),
    nameNative: row.get("name_native"),
    phonePrefix: row.get("phone_prefix"),
  }));
}

/** Reads the snapshot's regions. */
export async function readRegions(open: OpenSnapshotFile): Promise<ReferenceRegion[]> {
  return readList(open, "catalog-regions.csv.gz", (row) => ({
    key: row.get("key"),
    slug: row.get("slug"),
    name: row.get("name"),
    members: row.get("members").split(" "),
  }));
}

/** Reads one column of a file. */
export async function readColumn(
  open: OpenSnapshotFile,
  name: string,
  column: string,
): Promise<string[]> {
  return readList(open, name, (row) => row.get(column));
}

/** Reads the cities that these airports need. */
export async function readCityTables(
  open: OpenSnapshotFile,
  airports: readonly SourceAirport[],
): Promise<CityTables> {
  const cities = new Map<string, City>();
  const toCity = cityReader();
  await readTable(open, "cities.csv.gz", (row) => cities.set(row.get("key"), toCity(row)));
  const cityOfAirport = new Map<string, string>();
  await readTable(open, "airport-cities.csv.gz", (row) =>
    cityOfAirport.set(row.get("airport_id"), row.get("city_key")),
  );
  const unknown = airports.filter(({ id }) => !cityOfAirport.has(id));
  const places = new Set(unknown.map(placeKeyOf));
  return { cities, cityOfAirport, cityOfPlace: await readPlaces(open, places) };
}

async function readPlaces(
  open: OpenSnapshotFile,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const cityOfPlace = new Map<string, string>();
  await readTable(open, "places.csv.gz", (row) => {
    const key = placeKey(row.get("iso_region"), row.get("municipality"));
    if (wanted.has(key)) cityOfPlace.set(key, row.get("city_key"));
  });
  return cityOfPlace;
}

/**
 * Reads the region names of one locale. `slugs` are the base slugs by region key; a region without
 * a localized slug gets its base slug.
 */
export async function readRegionNames(
  open: OpenSnapshotFile,
  locale: string,
  slugs: ReadonlyMap<string, string>,
): Promise<RegionNames> {
  const names = new Map<string, LocalizedName>();
  await readTable(open, `names/${locale}.csv.gz`, (row) => {
    const slug = row.get("slug") || slugs.get(row.get("key"));
    if (slug !== undefined) names.set(row.get("key"), { name: row.get("name"), slug });
  });
  return names;
}

/** Builds cities from rows and shares one id between all cities of a country. */
function cityReader(): (row: CsvRow) => City {
  const countryIds = new Map<string, Uint8Array>();
  return (row) => {
    const country = row.get("country");
    const itsCountryId = countryIds.get(country) ?? countryId(country);
    countryIds.set(country, itsCountryId);
    return {
      id: cityId(row.get("key")),
      name: row.get("name"),
      countryId: itsCountryId,
      lat: roundDegrees(Number(row.get("lat"))),
      lon: roundDegrees(Number(row.get("lon"))),
    };
  };
}

async function readTable(
  open: OpenSnapshotFile,
  name: string,
  read: (row: CsvRow) => unknown,
): Promise<void> {
  for await (const row of readCsv(name, open(name), [])) read(row);
}

async function readList<T>(
  open: OpenSnapshotFile,
  name: string,
  read: (row: CsvRow) => T,
): Promise<T[]> {
  const rows: T[] = [];
  await readTable(open, name, (row) => rows.push(read(row)));
  return rows;
}
