import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
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
  return parse(gunzipSync(readSnapshotFile(name)), { columns: true }) as Row[];
}

/** The manifest that was written; its shape is the builder's own. */
export function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL("manifest.json", SNAPSHOT), "utf8")) as Manifest;
}

/** The tables that all checks look at. */
export interface Tables {
  readonly airports: readonly Row[];
  readonly countries: readonly Row[];
  readonly cities: readonly Row[];
  readonly airportCities: readonly Row[];
  readonly places: readonly Row[];
  readonly regions: readonly Row[];
  readonly manifest: Manifest;
}

/** Reads the written snapshot back. */
export function readTables(): Tables {
  return {
    airports: readSnapshotTable("airports.csv.gz"),
    countries: readSnapshotTable("countries.csv.gz"),
    cities: readSnapshotTable("cities.csv.gz"),
    airportCities: readSnapshotTable("airport-cities.csv.gz"),
    places: readSnapshotTable("places.csv.gz"),
    regions: readSnapshotTable("catalog-regions.csv.gz"),
    manifest: readManifest(),
  };
}
