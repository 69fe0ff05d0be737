import { foldText } from "../../src/catalog/fold.ts";
import type { Change } from "./airport-changes.ts";
import { type AirportRow, type Day, isOpen } from "./airports.ts";
import { distanceKm } from "../../src/catalog/positions.ts";

/** Two rows of one code this near to each other are one airport, whatever their ids. */
const SAME_AIRPORT_KM = 10;

/** Words that tell no airport from others: kinds, titles, directions and articles. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "airport airfield airstrip aerodrome aeropuerto aeroporto air base airbase heliport helipad " +
    "seaplane station field international regional municipal domestic memorial national county " +
    "city island islands new old north south east west general captain president king queen " +
    "prince princess doctor dr saint st san santa sao el la las los le les al the of and de do da del"
  ).split(" "),
);

/** Letters that two spellings of one word begin with. */
const STEM_LENGTH = 5;

/**
 * What has become of airports with scheduled service since an earlier day though no curated row says
 * why: they are gone, or have another code, or their code is another airport's.
 */
export function checkLosses(
  day: Day,
  airports: readonly AirportRow[],
  changes: readonly Change[],
): string[] {
  const byId = new Map(airports.map((airport) => [airport.id, airport]));
  const byCode = new Map(airports.map((airport) => [airport.iata, airport]));
  const explained = new Set(changes.map(({ id }) => Number(id)));
  return day.rows
    .filter((row) => isOpen(row) && row.scheduledService === "yes" && !explained.has(row.id))
    .flatMap((row) => {
      const fate = fateOf(row, byId.get(row.id), byCode.get(row.iata));
      if (fate === undefined) return [];
      return [
        `${row.iata} (${row.name}, id ${row.id}) has scheduled service in ${day.source}, but ${fate}: ` +
          "say in curated/airports.csv what has happened, or restore it by a row there",
      ];
    });
}

function fateOf(
  row: AirportRow,
  sameId: AirportRow | undefined,
  sameCode: AirportRow | undefined,
): string | undefined {
  if (sameCode !== undefined && distanceKm(row, sameCode) <= SAME_AIRPORT_KM) return undefined;
  if (sameId?.iata === row.iata) return undefined;
  if (sameId !== undefined) return `has the code ${sameId.iata} now`;
  if (sameCode !== undefined) return `its code is that of ${sameCode.name}, id ${sameCode.id}, now`;
  return "is gone";
}

/**
 * The names that have no word in common with those of an earlier day, nor with their municipality's:
 * more likely vandalism than a new name, unless a curated row has the name.
 */
export function checkNames(
  day: Day,
  airports: readonly AirportRow[],
  changes: readonly Change[],
): string[] {
  const before = new Map(day.rows.map((row) => [row.id, row]));
  const told = new Map(changes.map(({ id, name }) => [Number(id), name]));
  return airports.flatMap(({ id, iata, name, municipality }) => {
    const old = before.get(id);
    if (old === undefined || told.get(id) === name) return [];
    if (isSameName(name, old.name) || sharesWord(name, `${old.name} ${municipality}`)) return [];
    return [
      `${iata}: "${name}" has no word in common with "${old.name}" in ${day.source}: ` +
        "if it is true, say so by a row in curated/airports.csv that has the name",
    ];
  });
}

/** Whether two names differ in spaces and hyphens at most: `La Guardia`. */
function isSameName(a: string, b: string): boolean {
  return foldText(a).replaceAll("-", "") === foldText(b).replaceAll("-", "");
}

function sharesWord(a: string, b: string): boolean {
  const others = wordsOf(b);
  return wordsOf(a).some((word) => others.some((other) => isAlike(word, other)));
}

function wordsOf(name: string): string[] {
  return foldText(name)
    .split("-")
    .filter((word) => word.length > 1 && !COMMON_WORDS.has(word));
}

function isAlike(a: string, b: string): boolean {
  if (a === b) return true;
  return a.length >= STEM_LENGTH && a.slice(0, STEM_LENGTH) === b.slice(0, STEM_LENGTH);
}
