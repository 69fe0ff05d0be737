import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import type { AirportRow } from "./airports.ts";
import type { Manifest } from "./manifest.ts";

const SNAPSHOT = new URL("../snapshot/", import.meta.url);

/** One row of a written table, by column. */
export type Row = Readonly<Record<string, string>>;

/** The bytes of a file of the snapshot as they lie on disk. */
export function readSnapshotFile(name: string): Uint8Array {
  return readFileSync(new URL(name, SNAPSHOT));
}

/** The rows of a written table. */
export function readSnapshotTable(name: string): readonly Row[] {
  const text = gunzipSync(readSnapshotFile(name)).toString();
  return (name.endsWith(".json.gz") ? JSON.parse(text) : parse(text, { columns: true })) as Row[];
}

/** The manifest that was written; its shape is the builder's own. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("manifest.json", SNAPSHOT), "utf8")) as Manifest;
}

/** The tables that all checks look at. */
export interface Tables {
  readonly airports: readonly Row[];
  readonly corrections: readonly Row[];
  readonly countries: readonly Row[];
  readonly cities: readonly Row[];
  readonly airportCities: readonly Row[];
  readonly places: readonly Row[];
  readonly regions: readonly Row[];
  readonly manifest: Manifest;
}

/** The regions, with the IATA codes of the airports among their members. */
function readRegionRows(airports: readonly Row[]): readonly Row[] {
  const codes = new Map(airports.map(({ id = "", iata_code: iata = "" }) => [id, iata]));
  return readSnapshotTable("catalog-regions.csv.gz").map((row) => {
    const members = (row["members"] ?? "").split(" ");
    return { ...row, members: members.map((member) => codes.get(member) ?? member).join(" ") };
  });
}

/** Reads the written snapshot back. */
export function readTables(): Tables {
  const airports = readSnapshotTable("airports.csv.gz");
  return {
    airports,
    corrections: readSnapshotTable("airport-corrections.csv.gz"),
    countries: readSnapshotTable("countries.csv.gz"),
    cities: readSnapshotTable("cities.csv.gz"),
    airportCities: readSnapshotTable("airport-cities.csv.gz"),
    places: readSnapshotTable("places.csv.gz"),
    regions: readRegionRows(airports),
    manifest: readManifest(),
  };
}

/** The manifest of the snapshot that is published; undefined before the first build. */
export function readPublishedManifest(): Manifest | undefined {
  return existsSync(new URL("manifest.json", SNAPSHOT)) ? readManifest() : undefined;
}

/** The names of the snapshot that is published, in a locale; none before the first build. */
export function readPublishedNames(locale: string): readonly Row[] {
  const name = `names/${locale}.json.gz`;
  return existsSync(new URL(name, SNAPSHOT)) ? readSnapshotTable(name) : [];
}

/** The airports of the snapshot that is published; none before the first build. */
export function readPublishedAirports(): AirportRow[] {
  if (!existsSync(new URL("airports.csv.gz", SNAPSHOT))) return [];
  return readSnapshotTable("airports.csv.gz").map((row) => {
    const text = (name: string) => row[name] ?? "";
    return {
      id: Number(row["id"]),
      ident: text("ident"),
      type: text("type"),
      name: text("name"),
      lat: Number(row["latitude_deg"]),
      lon: Number(row["longitude_deg"]),
      elevationFt: row["elevation_ft"] ? Number(row["elevation_ft"]) : null,
      continent: text("continent"),
      country: text("iso_country"),
      region: text("iso_region"),
      municipality: text("municipality"),
      scheduledService: text("scheduled_service"),
      icao: text("icao_code"),
      gps: text("gps_code"),
      iata: text("iata_code"),
      local: text("local_code"),
    };
  });
}
