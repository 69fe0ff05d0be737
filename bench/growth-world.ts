/**
 * A larger world out of the snapshot: a copy of it, or a share of one, with ids, codes and slugs of
 * its own, with names and positions that differ, and which refers to itself only. Countries,
 * territories, macro-regions and travel regions stay the same; what is made of countries takes in
 * the copy. Its airports have the IATA codes that the snapshot leaves: less than twice the world is
 * all that codes of three letters can name.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";

const SNAPSHOT = "data/snapshot";
/** What is added to the ids of the copy. */
const ID_STEP = 10_000_000;
/** Degrees by which the copy is moved. */
const SHIFT = 0.013_577;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");

type Row = { readonly [column: string]: string };
type CopyRow = (row: Row) => Row;

const COPIED: { readonly [file: string]: CopyRow } = {
  "regions.csv.gz": (row) => ({ ...row, code: regionOf(row["code"]), name: nameOf(row) }),
  "cities.csv.gz": (row) => ({
    ...row,
    key: keyOf(row["key"]),
    name: nameOf(row),
    lat: moved(row["lat"]),
    lon: moved(row["lon"]),
  }),
  "airport-cities.csv.gz": (row) => ({
    ...row,
    airport_id: idOf(row["airport_id"]),
    city_key: keyOf(row["city_key"]),
  }),
  "places.csv.gz": (row) => ({
    ...row,
    iso_region: regionOf(row["iso_region"]),
    city_key: keyOf(row["city_key"]),
  }),
  "catalog-regions.csv.gz": (row) => ({
    ...row,
    key: keyOf(row["key"]),
    slug: slugOf(row["slug"]),
    name: nameOf(row),
    members: (row["members"] ?? "")
      .split(" ")
      .filter((member) => member.includes("-"))
      .map(regionOf)
      .join(" "),
  }),
};

const copyNames: CopyRow = (row) => ({
  key: keyOf(row["key"]),
  name: nameOf(row),
  slug: slugOf(row["slug"]),
});

/** Writes the files of a world that is 1 to 1.9 times as large, into a folder. */
export function writeWorld(folder: string, times: number, locales: readonly string[]): void {
  mkdirSync(join(folder, "names"), { recursive: true });
  const copy = (name: string, copyRows: (rows: readonly Row[]) => readonly Row[]) =>
    copyFile(folder, name, times === 1 ? () => [] : copyRows);
  copy("airports.csv.gz", (rows) => copyAirports(rows, times - 1));
  for (const [name, copyRow] of Object.entries(COPIED)) copy(name, (rows) => rows.map(copyRow));
  for (const locale of locales)
    copy(`names/${locale}.csv.gz`, (rows) => rows.map((row) => copyNames(row)));
  writeFileSync(join(folder, "countries.csv.gz"), readFileSync(`${SNAPSHOT}/countries.csv.gz`));
}

/** Regions that are made of whole countries or of listed airports, and grow with these. */
const WHOLE = /^(?:m49|iso3166-1|travel):/;

/** Copies of so large a share of airports as have an IATA code. */
function copyAirports(all: readonly Row[], share: number): Row[] {
  const airports = all.filter((row) => row["iata_code"] !== "");
  const taken = new Set(airports.map((row) => row["iata_code"]));
  const free = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c))).filter(
    (code) => !taken.has(code),
  );
  const count = Math.round(airports.length * share);
  if (count > free.length) throw new Error(`there are no IATA codes for ${count} more airports`);
  return airports.slice(0, count).map((row, index) => ({
    ...row,
    id: idOf(row["id"]),
    name: nameOf(row),
    latitude_deg: moved(row["latitude_deg"]),
    longitude_deg: moved(row["longitude_deg"]),
    iso_region: regionOf(row["iso_region"]),
    iata_code: free[index] ?? "",
  }));
}

function copyFile(
  folder: string,
  name: string,
  copyRows: (rows: readonly Row[]) => readonly Row[],
): void {
  const text = gunzipSync(readFileSync(`${SNAPSHOT}/${name}`)).toString();
  const rows: Row[] = parse(text, { columns: true });
  const [header = ""] = text.split("\n", 1);
  const columns = header.split(",");
  const copied = copyRows(rows.filter((row) => !WHOLE.test(row["key"] ?? "")));
  const lines = copied.map((row) => columns.map((column) => quoted(row[column] ?? "")).join(","));
  const whole = text + lines.map((line) => `${line}\n`).join("");
  writeFileSync(join(folder, name), gzipSync(whole));
}

function idOf(id = ""): string {
  return String(ID_STEP + Number(id));
}

function nameOf({ name = "" }: Row): string {
  return `${name} 2`;
}

/** A number gets the step, as an id does; a code of a subdivision gets a letter. */
function keyOf(key = ""): string {
  const [source = "", code = ""] = key.split(":");
  return /^\d+$/.test(code) ? `${source}:${idOf(code)}` : `${key}-A`;
}

function slugOf(slug = ""): string {
  return slug === "" ? "" : `${slug}-a`;
}

/** Dummies such as `FR-U-A` have no region, and stay as they are. */
function regionOf(code = ""): string {
  return code.endsWith("-U-A") ? code : `${code}-A`;
}

function moved(degrees = ""): string {
  const by = Number(degrees) > 0 ? -SHIFT : SHIFT;
  return (Number(degrees) + by).toFixed(6);
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
