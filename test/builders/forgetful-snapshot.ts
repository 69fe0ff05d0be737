/** The embedded snapshot as if it had never known some of its airports. Node only. */
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { foldText } from "../../src/catalog/fold.ts";
import type { OpenSnapshotFile } from "../../src/sources/reference.ts";
import { readSnapshotFile } from "./snapshot-on-disk.ts";
import { csvOf, type Row, streamOf } from "./source.ts";

/** From this many inhabitants on, the snapshot has a place without an airport. */
const SPARE_CITY = 20_000;

export function readSnapshotRows(name: string): Row[] {
  return parse(gunzipSync(readSnapshotFile(name)), { columns: true });
}

/** City key by airport id. */
export const cityKeys: ReadonlyMap<string, string> = new Map(
  readSnapshotRows("airport-cities.csv.gz").map((row) => [
    row["airport_id"] ?? "",
    row["city_key"] ?? "",
  ]),
);

/**
 * Opens the snapshot's tables of cities without what they have of airports: a city without another
 * airport is at most in the gazetteer, and a municipality of no other airport is not known.
 */
export function openWithout(forgotten: readonly Row[]): OpenSnapshotFile {
  const ids = new Set(forgotten.map((row) => row["id"]));
  const others = readSnapshotRows("airports.csv.gz").filter((row) => !ids.has(row["id"]));
  const used = new Set(others.map((row) => cityKeys.get(row["id"] ?? "")));
  const municipalities = new Set(
    others.map((row) => `${row["iso_region"]} ${foldText(row["municipality"] ?? "")}`),
  );
  const cities = Map.groupBy(readSnapshotRows("cities.csv.gz"), (row) => used.has(row["key"]));
  const spare = (cities.get(false) ?? []).filter((row) => Number(row["population"]) >= SPARE_CITY);
  const tables = new Map([
    ["cities.csv.gz", cities.get(true) ?? []],
    ["gazetteer.csv.gz", [...readSnapshotRows("gazetteer.csv.gz"), ...spare]],
    [
      "airport-cities.csv.gz",
      readSnapshotRows("airport-cities.csv.gz").filter((row) => !ids.has(row["airport_id"] ?? "")),
    ],
    [
      "places.csv.gz",
      readSnapshotRows("places.csv.gz").filter(
        (row) =>
          used.has(row["city_key"]) &&
          municipalities.has(`${row["iso_region"]} ${row["municipality"]}`),
      ),
    ],
  ]);
  return async (name) => {
    const rows = tables.get(name) ?? [];
    return streamOf(csvOf(rows, Object.keys(rows[0] ?? {})));
  };
}
