import type { LocalizedName, RegionNames } from "../catalog/model.ts";
import type { Correction, SourceAirport } from "../catalog/source-airport.ts";
import { readCsv, type CsvRow } from "./csv.ts";
import { readAirports, readSubdivisions } from "./our-airports.ts";

/** Opens a file of the snapshot, uncompressed, by its name in the manifest. */
export type OpenSnapshotFile = (name: string) => Promise<ReadableStream<Uint8Array>>;

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
  /** Countries (alpha-2), subdivisions (OurAirports' codes), airports (OurAirports' stable numbers). */
  readonly members: readonly string[];
}

export async function readSnapshotAirports(
  open: OpenSnapshotFile,
  countries: ReadonlySet<string>,
): Promise<readonly SourceAirport[]> {
  return (await readAirports(await open("airports.csv.gz"), countries)).airports;
}

export async function readCorrections(
  open: OpenSnapshotFile,
  countries: ReadonlySet<string>,
): Promise<readonly Correction[]> {
  const file = "airport-corrections.csv.gz";
  const { airports: written } = await readAirports(await open(file), countries);
  const writtenById = new Map(written.map((airport) => [airport.id, airport]));
  const ours = await readSnapshotAirports(open, countries);
  const oursById = new Map(ours.map((airport) => [airport.id, airport]));
  return readList(open, file, (row) => {
    const id = row.get("id");
    return { id, written: writtenById.get(id), ours: oursById.get(id) };
  });
}

export async function readSubdivisionNames(
  open: OpenSnapshotFile,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  return (await readSubdivisions(await open("regions.csv.gz"), wanted)).names;
}

export async function readCountries(open: OpenSnapshotFile): Promise<ReferenceCountry[]> {
  return readList(open, "countries.csv.gz", (row) => ({
    isoCode2: row.get("iso_code2"),
    isoCode3: row.get("iso_code3"),
    nameEng: row.get("name_eng"),
    nameNative: row.get("name_native"),
    phonePrefix: row.get("phone_prefix"),
  }));
}

export async function readRegions(open: OpenSnapshotFile): Promise<ReferenceRegion[]> {
  return readList(open, "catalog-regions.csv.gz", (row) => ({
    key: row.get("key"),
    slug: row.get("slug"),
    name: row.get("name"),
    members: row.get("members").split(" "),
  }));
}

/** The name of a region in a locale's file; an empty slug is the base slug. */
interface SnapshotName extends LocalizedName {
  readonly key: string;
}

/** Reads the names of some regions in a locale, with their base slugs (`slugs`) where it has no others. */
export async function readRegionNames(
  open: OpenSnapshotFile,
  locale: string,
  slugs: ReadonlyMap<string, string>,
): Promise<RegionNames> {
  const text = await new Response(await open(`names/${locale}.json.gz`)).text();
  const rows: readonly SnapshotName[] = JSON.parse(text); // written by data/build
  const names = new Map<string, LocalizedName>();
  for (const { key, name, slug } of rows) {
    const baseSlug = slugs.get(key);
    if (baseSlug !== undefined) names.set(key, { name, slug: slug || baseSlug });
  }
  return names;
}

export async function readTable(
  open: OpenSnapshotFile,
  name: string,
  read: (row: CsvRow) => unknown,
): Promise<void> {
  for await (const row of readCsv(name, await open(name), [])) read(row);
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
