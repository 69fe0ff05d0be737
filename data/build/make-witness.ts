import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { NEW_SINCE, parseWitness, WITNESS_COLUMNS } from "./airport-witness.ts";
import { toCsv } from "./csv.ts";
import { gzip } from "./gzip.ts";
import { compareCodeUnits } from "./text.ts";

/** Kinds of places in OpenTravelData: an airport, a heliport, and a city that is one place with either. */
const KINDS = /^[A-Z]{3}-C?[AH]-[1-9]/u;

type Row = Readonly<Record<string, string>>;

/** `npm run witness -- <optd_por_best_known_so_far.csv.gz> <optd_por_no_longer_valid.csv.gz> <day>` */
const [bestKnown = "", noLongerValid = "", day = ""] = process.argv.slice(2);

const rows = [
  ...read(bestKnown).filter(({ pk = "" }) => KINDS.test(pk)),
  ...read(noLongerValid).filter(
    ({ fcode = "", latitude, date_until: until = "" }) =>
      fcode.startsWith("AIR") && latitude && until >= NEW_SINCE && until <= day,
  ),
].filter(({ iata_code: iata }) => iata);

const table = rows
  .map((row) => WITNESS_COLUMNS.map((column) => (column === "as_of" ? day : valueOf(row, column))))
  .toSorted((a, b) => compareCodeUnits(a.join(), b.join()));
const text = toCsv({ columns: WITNESS_COLUMNS, rows: table });
parseWitness(text);
writeFileSync(new URL("../airport-witness.csv.gz", import.meta.url), gzip(text));
console.log(`${table.length} rows of ${day}`);

function read(path: string): Row[] {
  const text = gunzipSync(readFileSync(path)).toString();
  return parse(text, { delimiter: "^", columns: true, quote: false, relax_column_count: true });
}

/** Positions to a kilometre. */
function valueOf(row: Row, column: string): string {
  const value = row[column] ?? "";
  return column.endsWith("itude") ? String(Number(Number(value).toFixed(2))) : value;
}
