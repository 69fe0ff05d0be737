import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { distanceKm } from "../../src/catalog/positions.ts";
import type { AirportRow } from "./airports.ts";
import { readCurated } from "./curated.ts";
import { repeated } from "./repeated.ts";

/** The day of OpenTravelData that `airport-witness.csv.gz` is of. */
export const WITNESS_DAY = "2026-08-21";

/** The columns of `airport-witness.csv.gz`; all but the first are OpenTravelData's. */
export const WITNESS_COLUMNS = [
  "as_of",
  "iata_code",
  "latitude",
  "longitude",
  "date_from",
  "date_until",
] as const;

/** What IATA has changed since is in no earlier source. */
export const NEW_SINCE = "2024-04";

/** Fields and old fields of one airport are farther apart; rough positions are not. */
const ELSEWHERE_KM = 10;

/** Fewer codes are a part of the file. */
const FEWEST_CODES = 9000;

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

type Difference = "new" | "elsewhere" | "gone";

/** A row of `curated/witness.csv`: a difference in which OpenTravelData is not followed. */
export type Decision = Readonly<Record<"iata" | "difference" | "source" | "reason", string>>;

/** Reads `airport-witness.csv.gz`. */
export function readWitness(): WitnessRow[] {
  const file = readFileSync(new URL("../airport-witness.csv.gz", import.meta.url));
  return parseWitness(gunzipSync(file).toString());
}

/** @throws Error that names what is wrong with the file: its day, columns, codes or positions. */
export function parseWitness(text: string, fewest = FEWEST_CODES): WitnessRow[] {
  const refuse = (problem: string): never => {
    throw new Error(`airport-witness.csv.gz: ${problem}`);
  };
  const [header, ...lines]: string[][] = parse(text, { relax_column_count: true });
  if (header?.join() !== WITNESS_COLUMNS.join())
    refuse(`its columns are ${header?.join()}, expected ${WITNESS_COLUMNS.join()}`);
  const rows = lines.map((line) => {
    const [day, iata = "", lat, lon, since = "", until = ""] = line;
    if (line.length !== WITNESS_COLUMNS.length) refuse(`${iata} has ${line.length} columns`);
    if (day !== WITNESS_DAY)
      refuse(`${iata} is of ${day}, expected ${WITNESS_DAY}: npm run witness writes the file anew`);
    const row = { iata, lat: Number(lat || NaN), lon: Number(lon || NaN), since, until };
    const isPlace = Math.abs(row.lat) <= 90 && Math.abs(row.lon) <= 180;
    if (!isPlace || (row.lat === 0 && row.lon === 0)) refuse(`${iata} is at ${lat}, ${lon}`);
    if (!/^[A-Z]{3}$/u.test(iata)) refuse(`"${iata}" is no IATA code`);
    return row;
  });
  const codes = rows.filter(isCurrent).map(({ iata }) => iata);
  const [twice] = repeated(codes);
  if (twice !== undefined) refuse(`${twice} is there twice`);
  if (codes.length < fewest) refuse(`it has ${codes.length} codes, expected ${fewest} or more`);
  return rows;
}

/** Whether the code still is where the row has it. */
export function isCurrent({ until }: WitnessRow): boolean {
  return until === "";
}

/** Reads `curated/witness.csv`. */
export function readDecisions(): readonly Decision[] {
  return readCurated("witness");
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
  const open = new Map(decisions.map((row) => [`${row.iata} ${row.difference}`, row]));
  if (open.size < decisions.length) throw new Error("witness.csv: a decision is there twice");
  const unsourced = decisions.find(({ source }) => source === "");
  if (unsourced !== undefined) throw new Error(`witness.csv: ${unsourced.iata} has no source`);
  const problems = differences(witness, airports, others).flatMap(({ iata, difference, what }) =>
    open.delete(`${iata} ${difference}`)
      ? []
      : [
          `${iata} ${what}: follow it by a row in curated/airports.csv, or say by one in curated/witness.csv (${difference}) why not`,
        ],
  );
  return [
    ...problems,
    ...[...open.keys()].map((key) => `witness.csv: ${key}: there is no such difference`),
  ];
}

interface Found {
  readonly iata: string;
  readonly difference: Difference;
  readonly what: string;
}

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
    ...news.map(({ iata, since, lat, lon }): Found => {
      const what = `is a code at ${lat}, ${lon} since ${since} (OpenTravelData)`;
      return { iata, difference: "new", what };
    }),
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
    const day = hasEnded ? end.until : WITNESS_DAY;
    return { iata, difference: "gone", what: `has no code any more (OpenTravelData, ${day})` };
  }
  if (row === undefined || (!isUsed && row.since === "")) return undefined;
  const away = Math.round(distanceKm(row, airport));
  const what = `is ${away} km away at ${row.lat}, ${row.lon} (OpenTravelData${row.since && `, since ${row.since}`})`;
  return { iata, difference: "elsewhere", what };
}

function isAt(row: WitnessRow, airport: AirportRow): boolean {
  return distanceKm(row, airport) <= ELSEWHERE_KM;
}
