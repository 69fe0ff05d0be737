import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { NEW_SINCE, parseWitness, WITNESS_COLUMNS, WITNESS_DAY } from "./airport-witness.ts";
import { toCsv } from "./csv.ts";
import { gzip } from "./gzip.ts";
import { compareCodeUnits } from "./text.ts";

/** Kinds of places in OpenTravelData: an airport, a heliport, and a city that is one place with either. */
const KINDS = /^[A-Z]{3}-C?[AH]-[1-9]/u;

/** Codes begin or end each month: files whose newest day is older are not of the day. */
const NEWS_WITHIN_DAYS = 31;

type Row = Readonly<Record<string, string>>;

/**
 * The text of `airport-witness.csv.gz` from `optd_por_best_known_so_far.csv` and
 * `optd_por_no_longer_valid.csv`.
 *
 * @throws Error that names the file and the column that it lacks, or the newest day of files that are
 * not of `WITNESS_DAY`.
 */
export function witnessText(bestKnown: string, noLongerValid: string): string {
  const places = read("optd_por_best_known_so_far.csv", bestKnown, [
    "pk",
    "iata_code",
    "latitude",
    "longitude",
    "date_from",
  ]).filter(({ pk = "" }) => KINDS.test(pk));
  const ended = read("optd_por_no_longer_valid.csv", noLongerValid, [
    "iata_code",
    "latitude",
    "longitude",
    "date_from",
    "date_until",
    "fcode",
  ]).filter(
    ({ fcode = "", latitude, date_until: until = "" }) =>
      fcode.startsWith("AIR") && latitude && until >= NEW_SINCE && until <= WITNESS_DAY,
  );
  checkDay(places);
  const rows = [...places, ...ended]
    .filter(({ iata_code: iata }) => iata)
    .map((row) => WITNESS_COLUMNS.map((column) => valueOf(row, column)))
    .toSorted((a, b) => compareCodeUnits(a.join(), b.join()));
  return toCsv({ columns: WITNESS_COLUMNS, rows });
}

function read(name: string, text: string, columns: readonly string[]): Row[] {
  const [header = [], ...lines]: string[][] = parse(text, {
    delimiter: "^",
    quote: false,
    relax_column_count: true,
  });
  const missing = columns.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Error(`${name} has no column ${missing.join(", ")}`);
  return lines.map((line) =>
    Object.fromEntries(header.map((column, index) => [column, line[index] ?? ""])),
  );
}

/** The files do not say which day they are of; their newest day does, nearly. */
function checkDay(places: readonly Row[]): void {
  const newest = places.map(({ date_from: day = "" }) => day).reduce((a, b) => (a > b ? a : b), "");
  const days = (Date.parse(WITNESS_DAY) - Date.parse(newest)) / 86_400_000;
  if (!(days >= 0 && days <= NEWS_WITHIN_DAYS))
    throw new Error(
      `the newest date_from is "${newest}", but WITNESS_DAY in airport-witness.ts is ${WITNESS_DAY}`,
    );
}

/** Positions to a kilometre. */
function valueOf(row: Row, column: string): string {
  const value = column === "as_of" ? WITNESS_DAY : (row[column] ?? "");
  return column.endsWith("itude") && value !== ""
    ? String(Number(Number(value).toFixed(2)))
    : value;
}

/** `npm run witness -- <optd_por_best_known_so_far.csv.gz> <optd_por_no_longer_valid.csv.gz>` */
if (import.meta.main) {
  const [bestKnown = "", noLongerValid = ""] = process.argv
    .slice(2)
    .map((path) => gunzipSync(readFileSync(path)).toString());
  const text = witnessText(bestKnown, noLongerValid);
  console.log(`${parseWitness(text).length} rows of ${WITNESS_DAY}`);
  writeFileSync(new URL("../airport-witness.csv.gz", import.meta.url), gzip(text));
}
