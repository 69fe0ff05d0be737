import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { distanceKm } from "../../src/catalog/positions.ts";
import type { AirportRow } from "./airports.ts";
import { readCurated } from "./curated.ts";
import { repeated } from "./repeated.ts";
import { isDay } from "./text.ts";

/** The day of OpenTravelData that `airport-witness.csv.gz` is of. */
export const WITNESS_DAY = "2026-08-21";

/** What IATA has changed since is in no earlier source. */
export const NEW_SINCE = "2024-04";

/** Fields and old fields of one airport are farther apart; rough positions are not. */
const ELSEWHERE_KM = 10;

/**
 * A file with fewer rows is cut off: it has 9,497 codes and 7 that ended. IATA gave out 52 codes from
 * April 2024 on while those 7 ended, and OpenTravelData keeps what has ended.
 */
const FEWEST = { codes: 9400, ended: 7 } as const;

interface Column {
  readonly expected: string;
  readonly holds: (text: string) => boolean;
}

const DAY_OR_NONE: Column = {
  expected: `empty or a day, ${WITNESS_DAY} at the latest`,
  holds: (text) => text === "" || (isDay(text) && text <= WITNESS_DAY),
};

/** The columns of `airport-witness.csv.gz`; all but the first are OpenTravelData's. */
const COLUMNS = {
  as_of: {
    expected: `${WITNESS_DAY}: npm run witness writes the file anew`,
    holds: (text) => text === WITNESS_DAY,
  },
  iata_code: {
    expected: "three capital letters",
    holds: (text) => /^[A-Z]{3}$/u.test(text),
  },
  latitude: degrees(90),
  longitude: degrees(180),
  date_from: DAY_OR_NONE,
  date_until: DAY_OR_NONE,
} as const satisfies Record<string, Column>;

export const WITNESS_COLUMNS: readonly string[] = Object.keys(COLUMNS);

/** A code as OpenTravelData has it. */
export interface WitnessRow {
  readonly iata: string;
  readonly lat: number;
  readonly lon: number;
  /** First day of the code at this place; empty if it is old. */
  readonly since: string;
  /** Last day of the code at this place; empty if it still is there. */
  readonly until: string;
}

const DECISION_COLUMNS = ["iata", "difference", "about", "source", "again", "reason"] as const;

/**
 * A row of `curated/witness.csv`: a difference in which OpenTravelData is not followed. `about` is what
 * the difference was when somebody decided, and `again` the day to look at it again, if any.
 */
export type Decision = Readonly<Record<(typeof DECISION_COLUMNS)[number], string>>;

/**
 * Reads `airport-witness.csv.gz`.
 *
 * @throws Error that names the file, and the row and column of what is wrong.
 */
export function readWitness(): WitnessRow[] {
  try {
    const file = readFileSync(new URL("../airport-witness.csv.gz", import.meta.url));
    return parseWitness(gunzipSync(file).toString());
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`airport-witness.csv.gz: ${what}`, { cause: error });
  }
}

/** @throws Error that names what is wrong: the columns, a row with its column, or the number of rows. */
export function parseWitness(
  text: string,
  fewest: Readonly<Record<keyof typeof FEWEST, number>> = FEWEST,
): WitnessRow[] {
  const [header = [], ...lines]: string[][] = parse(text, { relax_column_count: true });
  if (header.join() !== WITNESS_COLUMNS.join())
    throw new Error(`its columns are ${header.join()}, expected ${WITNESS_COLUMNS.join()}`);
  const rows = lines.map((line, index) => readRow(line, index + 2));
  const [codes, ended] = [rows.filter(isCurrent), rows.filter((row) => !isCurrent(row))];
  checkTwice(rows);
  if (codes.length < fewest.codes)
    throw new Error(`it has ${codes.length} codes, expected ${fewest.codes} or more`);
  if (ended.length < fewest.ended)
    throw new Error(`it has ${ended.length} codes that ended, expected ${fewest.ended} or more`);
  return rows;
}

function readRow(line: readonly string[], number: number): WitnessRow {
  const [, iata = "", lat, lon, since = "", until = ""] = line;
  const refuse = (problem: string): never => {
    throw new Error(`row ${number} (${iata}): ${problem}`);
  };
  if (line.length !== WITNESS_COLUMNS.length)
    refuse(`it has ${line.length} columns, expected ${WITNESS_COLUMNS.length}`);
  for (const [index, [name, { expected, holds }]] of Object.entries(COLUMNS).entries())
    if (!holds(line[index] ?? "")) refuse(`${name} is "${line[index]}", expected ${expected}`);
  const row = { iata, lat: Number(lat), lon: Number(lon), since, until };
  if (row.lat === 0 && row.lon === 0) refuse("latitude and longitude are 0: no airport is there");
  if (until !== "" && until < since) refuse(`date_until is "${until}", before date_from`);
  return row;
}

/** A code is at one place, and ends at one other. */
function checkTwice(rows: readonly WitnessRow[]): void {
  const keys = rows.map((row) => `${row.iata}${isCurrent(row) ? "" : " until"}`);
  const [twice] = repeated(keys);
  if (twice === undefined) return;
  const numbers = [keys.lastIndexOf(twice), keys.indexOf(twice)].map((index) => index + 2);
  throw new Error(`row ${numbers[0]} (${twice}): iata_code is that of row ${numbers[1]} too`);
}

function degrees(limit: number): Column {
  return {
    expected: `degrees from -${limit} to ${limit}`,
    holds: (text) => Math.abs(Number(text.trim() || NaN)) <= limit,
  };
}

/** Whether the code still is where the row has it. */
export function isCurrent({ until }: WitnessRow): boolean {
  return until === "";
}

/**
 * Reads `curated/witness.csv`.
 *
 * @throws Error that names a missing column, and each row that does not fit.
 */
export function readDecisions(): readonly Decision[] {
  return checkedDecisions(readCurated("witness"));
}

export function checkedDecisions(decisions: readonly Decision[]): readonly Decision[] {
  const problems = decisions.flatMap((row) => {
    const refuse = (problem: string) => [`witness.csv: ${row.iata} ${row.difference}: ${problem}`];
    const missing = DECISION_COLUMNS.find((column) => !(column in row));
    if (missing !== undefined) return refuse(`it has no column ${missing}`);
    if (row.source === "") return refuse("it has no source");
    if (row.difference === "new" && row.again === "")
      return refuse("it needs a day in again: an airport that is planned opens one day");
    return [];
  });
  const [twice] = repeated(decisions.map(keyOf));
  if (twice !== undefined) problems.push(`witness.csv: ${twice} is there twice`);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return decisions;
}

/** What was decided about: a later difference of the same code is another. */
function keyOf({ iata, difference, about }: Found): string {
  return `${iata} ${difference}: ${about}`;
}

/**
 * The differences between the airports and OpenTravelData that no decision explains, and the
 * decisions without a difference. Of airports without scheduled service only dated ones count:
 * undated rows of those have rough positions.
 *
 * @param others codes that `other-codes.csv` explains.
 */
export function compareWithWitness(
  witness: readonly WitnessRow[],
  airports: readonly AirportRow[],
  {
    decisions,
    others,
  }: { readonly decisions: readonly Decision[]; readonly others: ReadonlySet<string> },
): string[] {
  const open = new Set(decisions.map(keyOf));
  const undecided = differences(witness, airports, others)
    .map(keyOf)
    .filter((key) => !open.delete(key));
  return [
    ...undecided.map(
      (key) =>
        `${key} (OpenTravelData): follow it by a row in curated/airports.csv, or say by one in curated/witness.csv why not`,
    ),
    ...[...open].map((key) => `witness.csv: ${key}: there is no such difference`),
  ];
}

type Found = Pick<Decision, "iata" | "difference" | "about">;

function differences(
  witness: readonly WitnessRow[],
  airports: readonly AirportRow[],
  others: ReadonlySet<string>,
): Found[] {
  const ours = new Set(airports.map(({ iata }) => iata));
  const [current, ended] = [true, false].map(
    (wanted) =>
      new Map(witness.filter((row) => isCurrent(row) === wanted).map((row) => [row.iata, row])),
  );
  const news = [...(current?.values() ?? [])].filter(
    ({ iata, since }) => since >= NEW_SINCE && !ours.has(iata) && !others.has(iata),
  );
  return [
    ...news.map((row): Found => ({ iata: row.iata, difference: "new", about: placeOf(row) })),
    ...airports.flatMap(
      (airport) =>
        differenceOf(airport, current?.get(airport.iata), ended?.get(airport.iata)) ?? [],
    ),
  ];
}

/** How an airport differs from the row of its code, and from that of its former place. */
function differenceOf(
  airport: AirportRow,
  row: WitnessRow | undefined,
  end: WitnessRow | undefined,
): Found | undefined {
  const { iata } = airport;
  const isUsed = airport.scheduledService === "yes";
  const hasEnded = end !== undefined && isAt(end, airport);
  if (row !== undefined && isAt(row, airport)) return undefined;
  if (hasEnded || (row === undefined && isUsed)) {
    return { iata, difference: "gone", about: hasEnded ? `ended ${end.until}` : "no such code" };
  }
  if (row === undefined || (!isUsed && row.since === "")) return undefined;
  const away = Math.round(distanceKm(row, airport));
  return { iata, difference: "elsewhere", about: `${away} km away ${placeOf(row)}` };
}

function placeOf({ lat, lon, since }: WitnessRow): string {
  return `at ${lat} ${lon}${since && ` since ${since}`}`;
}

function isAt(row: WitnessRow, airport: AirportRow): boolean {
  return distanceKm(row, airport) <= ELSEWHERE_KM;
}
