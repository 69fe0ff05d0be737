import type { LocalizedName, RegionNames } from "../catalog/model.ts";
import { readCsv, type CsvRow } from "./csv.ts";

/** Opens an uncompressed file of the snapshot by its name in the snapshot's manifest. */
export type OpenSnapshotFile = (name: string) => ReadableStream<Uint8Array>;

/** A country as the snapshot has it. */
export interface ReferenceCountry {
  readonly isoCode2: string;
  readonly isoCode3: string;
  readonly nameEng: string;
  readonly nameNative: string;
  readonly phonePrefix: string;
}

/** A city as the snapshot has it; `country` is an ISO 3166-1 alpha-2 code. */
export interface ReferenceCity {
  readonly name: string;
  readonly country: string;
  readonly lat: number;
  readonly lon: number;
}

/** A region as the snapshot has it; its slug is frozen. */
export interface ReferenceRegion {
  readonly key: string;
  readonly slug: string;
  readonly name: string;
  /** Alpha-2 codes of a macro-region's countries, OurAirports' codes of a subdivision. */
  readonly members: readonly string[];
}

/** What the catalog takes from the snapshot, whichever upstream the airports come from. */
export interface Reference {
  readonly countries: readonly ReferenceCountry[];
  /** By city key. */
  readonly cities: ReadonlyMap<string, ReferenceCity>;
  /** City key by numeric OurAirports id. */
  readonly cityOfAirport: ReadonlyMap<string, string>;
  /** City key by `placeKey`. */
  readonly cityOfPlace: ReadonlyMap<string, string>;
  readonly regions: readonly ReferenceRegion[];
}

/** Key of a municipality within an ISO 3166-2 region; `folded` as `foldText` makes it. */
export const placeKey = (region: string, folded: string): string => `${region}:${folded}`;

/** Reads the snapshot's tables. */
export async function readReference(open: OpenSnapshotFile): Promise<Reference> {
  return {
    countries: await readTable(open, "countries.csv.gz", (row) => ({
      isoCode2: row.get("iso_code2"),
      isoCode3: row.get("iso_code3"),
      nameEng: row.get("name_eng"),
      nameNative: row.get("name_native"),
      phonePrefix: row.get("phone_prefix"),
    })),
    cities: new Map(await readTable(open, "cities.csv.gz", (row) => [row.get("key"), city(row)])),
    cityOfAirport: new Map(
      await readTable(open, "airport-cities.csv.gz", (row) => [
        row.get("airport_id"),
        row.get("city_key"),
      ]),
    ),
    cityOfPlace: new Map(
      await readTable(open, "places.csv.gz", (row) => [
        placeKey(row.get("iso_region"), row.get("municipality")),
        row.get("city_key"),
      ]),
    ),
    regions: await readTable(open, "catalog-regions.csv.gz", (row) => ({
      key: row.get("key"),
      slug: row.get("slug"),
      name: row.get("name"),
      members: row.get("members").split(" "),
    })),
  };
}

/**
 * Reads the region names of one locale. `slugs` are the base slugs by region key, reused where the
 * locale has none of its own.
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

function city(row: CsvRow): ReferenceCity {
  return {
    name: row.get("name"),
    country: row.get("country"),
    lat: Number(row.get("lat")),
    lon: Number(row.get("lon")),
  };
}

async function readTable<T>(
  open: OpenSnapshotFile,
  name: string,
  read: (row: CsvRow) => T,
): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of readCsv(name, open(name), [])) rows.push(read(row));
  return rows;
}
