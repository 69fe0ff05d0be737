import type { RanksFile } from "../src/web/explorer/ranks.ts";
import { readTable, type Row } from "./snapshot-table.ts";

const TYPES = ["large_airport", "medium_airport"];

/** Ranks the airports and cities of the snapshot. */
export function rankPlaces(): RanksFile {
  const served = readTable("snapshot/airports.csv.gz").filter(
    (row) => row["scheduled_service"] === "yes",
  );
  const codes = ([...TYPES, undefined] as const).map((type) =>
    served
      .filter((row) => (type ? row["type"] === type : !TYPES.includes(row["type"] ?? "")))
      .map((row) => row["iata_code"])
      .join(""),
  );
  const [large = "", medium = "", small = ""] = codes;
  const cities = readTable("search/cities.csv.gz");
  const metros = cities.flatMap((row) =>
    (row["codes"] ?? "").split(" ").flatMap((code) => (code ? [[code, idOf(row)]] : [])),
  );
  return {
    tiers: [large, medium, small],
    cities: cities.map(idOf).join(" "),
    metros: Object.fromEntries(metros),
  };
}

/** The names of cities in other languages: a line for each city, `id name|name`. */
export function cityNames(): string {
  return readTable("search/cities.csv.gz")
    .filter((row) => row["names"] !== "")
    .map((row) => `${idOf(row)} ${row["names"]}`)
    .join("\n");
}

function idOf(row: Row): string {
  return Number(row["geonames"]).toString(36);
}
