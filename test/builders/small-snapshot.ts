/** A snapshot of three airports: all that the pipeline reads, small enough to encode at once. */
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { sha256Hex } from "../../src/catalog/bytes.ts";
import type { Snapshot, SnapshotSource } from "../../src/sources/snapshot.ts";
import { anAirportRow, csvOf, type Row } from "./source.ts";

const AIRPORTS: readonly Row[] = [
  anAirportRow(),
  anAirportRow({
    id: "29860",
    name: "Geneva Airport",
    iata_code: "GVA",
    icao_code: "LSGG",
    iso_region: "CH-GE",
    municipality: "Geneva",
    latitude_deg: "46.238098",
    longitude_deg: "6.10895",
  }),
  anAirportRow({
    id: "4286",
    name: "Linate Airport",
    iata_code: "LIN",
    icao_code: "LIML",
    iso_country: "IT",
    iso_region: "IT-25",
    municipality: "Milan",
    latitude_deg: "45.4451",
    longitude_deg: "9.27674",
  }),
];

const NAMES: { readonly [locale: string]: string } = {
  en: "m49:150,Europe,\niso3166-2:CH-ZH,Zurich,\niso3166-2:CH-GE,Geneva,\niso3166-2:IT-25,Lombardy,\n",
  de: "m49:150,Europa,europa\niso3166-2:CH-ZH,Zürich,zuerich-ch\niso3166-2:CH-GE,Genf,genf-ch\niso3166-2:IT-25,Lombardei,lombardei-it\n",
  ja: "m49:150,ヨーロッパ,\niso3166-2:CH-ZH,チューリッヒ州,\n",
};

/** The dates of a snapshot's data. */
const SNAPSHOT_SOURCES: readonly SnapshotSource[] = [
  { what: "OurAirports: airports", as_of: "2026-10-20", table: "airports.csv" },
  { what: "OurAirports: regions", as_of: "2026-10-19", table: "regions.csv" },
  { what: "GeoNames", as_of: "2026-03-05" },
];

export interface SmallSnapshotChanges {
  /** Rows of airports.csv. */
  readonly airports?: readonly Row[];
  /** Rows of airport-corrections.csv. */
  readonly corrections?: readonly Row[];
  /** Rows `key,name,slug` of names/<locale>.json.gz, instead of those of a locale. */
  readonly names?: { readonly [locale: string]: string };
}

/** Airports ZRH, GVA and LIN, and names in en, de and ja. */
export function aSnapshot({
  airports = AIRPORTS,
  corrections = [],
  names,
}: SmallSnapshotChanges = {}): Snapshot {
  const tables: { readonly [name: string]: string } = {
    "airports.csv.gz": csvOf(airports),
    "airport-corrections.csv.gz": csvOf(corrections),
    "regions.csv.gz": "code,name\nCH-ZH,Zürich\nCH-VS,Valais\n",
    "countries.csv.gz":
      "iso_code2,iso_code3,name_eng,name_native,phone_prefix\nCH,CHE,Switzerland,Schweiz,41\nIT,ITA,Italy,Italia,39\n",
    "cities.csv.gz":
      "key,name,country,region,population,lat,lon\ngeonames:2657896,Zürich,CH,CH-ZH,300000,47.36667,8.55\ngeonames:2660646,Geneva,CH,CH-GE,200000,46.20222,6.14569\ngeonames:3173435,Milan,IT,IT-25,1000000,45.46427,9.18951\n",
    "gazetteer.csv.gz": "key,name,country,region,population,lat,lon\n",
    "airport-cities.csv.gz":
      "airport_id,city_key,origin\n4439,geonames:2657896,served_city\n29860,geonames:2660646,served_city\n4286,geonames:3173435,served_city\n",
    "places.csv.gz": "iso_region,municipality,city_key\n",
    "catalog-regions.csv.gz":
      "key,slug,name,members\nm49:150,europe,Europe,CH IT\niso3166-2:CH-ZH,zurich-ch,Zurich,CH-ZH\niso3166-2:CH-GE,geneva-ch,Geneva,CH-GE\niso3166-2:IT-25,lombardy-it,Lombardy,IT-25\n",
    ...Object.fromEntries(
      Object.entries({ ...NAMES, ...names }).map(([locale, rows]) => [
        `names/${locale}.json.gz`,
        JSON.stringify(parse(`key,name,slug\n${rows}`, { columns: true })),
      ]),
    ),
  };
  return {
    async read(name) {
      const text = tables[name];
      if (text === undefined) throw new Error(`the snapshot has no file ${name}`);
      return Uint8Array.from(gzipSync(text)).buffer;
    },
    sha256: sha256Hex(JSON.stringify(tables)),
    locales: Object.keys(NAMES).map((locale) => ({ locale, coverage: 1 })),
    sources: SNAPSHOT_SOURCES,
  };
}

/** The rows of the small snapshot's airports.csv. */
export const smallAirports = AIRPORTS;

/** Those rows, and more at Winterthur until there are `count`: enough to bear a small change. */
export function moreAirports(count: number): Row[] {
  const more = Array.from({ length: Math.max(0, count - AIRPORTS.length) }, (_, index) =>
    anAirportRow({
      id: String(100_000 + index),
      name: `Winterthur Airfield ${index}`,
      municipality: "Winterthur",
      iata_code: `X${letter(Math.floor(index / 26))}${letter(index % 26)}`,
      icao_code: "",
      gps_code: "",
    }),
  );
  return [...AIRPORTS, ...more];
}

function letter(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}
