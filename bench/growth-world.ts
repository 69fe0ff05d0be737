/**
 * A larger world out of the snapshot: each copy of it has ids, codes and slugs of its own, names
 * and positions that differ, and refers to itself only. Countries and the regions above them stay
 * the same and take in all copies. There are too few IATA codes of three letters for ten worlds:
 * those of copies have four.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";

const SNAPSHOT = "data/snapshot";
/** What is added to the ids of one copy. */
const ID_STEP = 10_000_000;
/** Degrees by which one copy is moved. */
const SHIFT = 0.013_577;

type Row = { readonly [column: string]: string };
type CopyRow = (row: Row, copy: Copy) => Row;

/** How one copy names what it does not share with the first. */
interface Copy {
  readonly number: number;
  /** A letter. */
  readonly letter: string;
}

const COPIED: { readonly [file: string]: CopyRow } = {
  "airports.csv.gz": (row, copy) => ({
    ...row,
    id: idOf(row["id"], copy),
    name: `${row["name"]} ${copy.number + 1}`,
    latitude_deg: moved(row["latitude_deg"], copy),
    longitude_deg: moved(row["longitude_deg"], copy),
    iso_region: regionOf(row["iso_region"], copy),
    iata_code: `${row["iata_code"]}${copy.letter}`,
  }),
  "regions.csv.gz": (row, copy) => ({
    ...row,
    code: regionOf(row["code"], copy),
    name: `${row["name"]} ${copy.number + 1}`,
  }),
  "cities.csv.gz": (row, copy) => ({
    ...row,
    key: keyOf(row["key"], copy),
    name: `${row["name"]} ${copy.number + 1}`,
    lat: moved(row["lat"], copy),
    lon: moved(row["lon"], copy),
  }),
  "airport-cities.csv.gz": (row, copy) => ({
    ...row,
    airport_id: idOf(row["airport_id"], copy),
    city_key: keyOf(row["city_key"], copy),
  }),
  "places.csv.gz": (row, copy) => ({
    ...row,
    iso_region: regionOf(row["iso_region"], copy),
    city_key: keyOf(row["city_key"], copy),
  }),
  "catalog-regions.csv.gz": (row, copy) => ({
    ...row,
    key: keyOf(row["key"], copy),
    slug: slugOf(row["slug"], copy),
    name: `${row["name"]} ${copy.number + 1}`,
    members: (row["members"] ?? "")
      .split(" ")
      .map((code) => regionOf(code, copy))
      .join(" "),
  }),
};

const copyNames: CopyRow = (row, copy) => ({
  key: keyOf(row["key"], copy),
  name: `${row["name"]} ${copy.number + 1}`,
  slug: slugOf(row["slug"], copy),
});

/** Writes the files of a world, so many times as large, into a folder. */
export function writeWorld(folder: string, times: number, locales: readonly string[]): void {
  mkdirSync(join(folder, "names"), { recursive: true });
  const copies = Array.from({ length: times - 1 }, (_, index): Copy => {
    return { number: index + 1, letter: String.fromCharCode("A".charCodeAt(0) + index) };
  });
  for (const [name, copyRow] of Object.entries(COPIED)) copyFile({ folder, name, copies, copyRow });
  for (const locale of locales)
    copyFile({ folder, name: `names/${locale}.csv.gz`, copies, copyRow: copyNames });
  writeFileSync(join(folder, "countries.csv.gz"), readFileSync(`${SNAPSHOT}/countries.csv.gz`));
}

function copyFile({
  folder,
  name,
  copies,
  copyRow,
}: {
  readonly folder: string;
  readonly name: string;
  readonly copies: readonly Copy[];
  readonly copyRow: CopyRow;
}): void {
  const text = gunzipSync(readFileSync(`${SNAPSHOT}/${name}`)).toString();
  const rows: Row[] = parse(text, { columns: true });
  const [header = ""] = text.split("\n", 1);
  const columns = header.split(",");
  const copied = copies.flatMap((copy) =>
    rows.filter((row) => !row["key"]?.startsWith("m49:")).map((row) => copyRow(row, copy)),
  );
  const lines = copied.map((row) => columns.map((column) => quoted(row[column] ?? "")).join(","));
  const whole = text + lines.map((line) => `${line}\n`).join("");
  writeFileSync(join(folder, name), gzipSync(whole));
}

function idOf(id = "", { number }: Copy): string {
  return String(number * ID_STEP + Number(id));
}

function keyOf(key = "", { letter }: Copy): string {
  return `${key}-${letter}`;
}

function slugOf(slug = "", { letter }: Copy): string {
  return slug === "" ? "" : `${slug}-${letter.toLowerCase()}`;
}

/** Dummies such as `FR-U-A` have no region, and stay as they are. */
function regionOf(code = "", { letter }: Copy): string {
  return code.endsWith("-U-A") ? code : `${code}-${letter}`;
}

function moved(degrees = "", { number }: Copy): string {
  const by = Number(degrees) > 0 ? -number * SHIFT : number * SHIFT;
  return (Number(degrees) + by).toFixed(6);
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
