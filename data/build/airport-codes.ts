import { distanceKm } from "../../src/catalog/positions.ts";
import { SAME_POSITION_KM } from "../../src/acceptance/airport.ts";
import type { Change } from "./airport-changes.ts";
import { type AirportRow, type Day, isOpen } from "./airports.ts";

/** An airport as a second list has it. */
export interface ListedCode {
  readonly iata: string;
  readonly lat: number;
  readonly lon: number;
}

const ICAO = /^[A-Z]{4}$/u;

/** The ICAO code that the catalog serves: `icao_code`, else `gps_code`. */
function icaoOf({ icao, gps }: AirportRow): string {
  return [icao, gps].find((code) => ICAO.test(code)) ?? "";
}

/**
 * The airports whose two columns of ICAO codes differ, or that had another ICAO code on an earlier
 * day, though no curated row says which is right.
 */
export function checkIcao(
  day: Day,
  airports: readonly AirportRow[],
  changes: readonly Change[],
): string[] {
  const told = new Map(
    changes.flatMap(({ id, icao }) => (icao === "" ? [] : [[Number(id), icao] as const])),
  );
  const earlier = new Map(day.rows.filter(isOpen).map((row) => [row.id, icaoOf(row)]));
  return airports.flatMap((airport) => {
    const { id, iata, icao, gps } = airport;
    const code = icaoOf(airport);
    if (told.get(id) === code) return [];
    const doubt = (what: string) =>
      `${iata} has the ICAO code "${code}", but ${what}: say by a row in curated/airports.csv which is right`;
    const before = earlier.get(id) ?? code;
    return [
      ...(ICAO.test(icao) && ICAO.test(gps) && icao !== gps
        ? [doubt(`its GPS code is ${gps}`)]
        : []),
      ...(before !== code && before !== "" ? [doubt(`${day.source} has ${before}`)] : []),
    ];
  });
}

/**
 * The codes by which a second list knows an airport with scheduled service, or one on its place, and
 * that are no airport's here: it may have another code now.
 *
 * @param others the code here by each such code that `other-codes.csv` explains.
 */
export function checkSecondList(
  listed: readonly ListedCode[],
  airports: readonly AirportRow[],
  others: ReadonlyMap<string, string>,
): string[] {
  const ours = new Set(airports.map(({ iata }) => iata));
  const used = airports.filter(({ scheduledService }) => scheduledService === "yes");
  const news = listed.filter(({ iata }) => !ours.has(iata));
  const found = news.flatMap((other) =>
    used
      .filter((airport) => distanceKm(airport, other) <= SAME_POSITION_KM)
      .map(({ iata }) => ({ code: other.iata, iata })),
  );
  const seen = new Set(found.map(({ code }) => code));
  return [
    ...found
      .filter(({ code, iata }) => others.get(code) !== iata)
      .map(
        ({ code, iata }) =>
          `${iata} is ${code} in OpenTravelData: recode it by a row in curated/airports.csv, or explain ${code} in curated/other-codes.csv`,
      ),
    ...[...others.keys()]
      .filter((code) => !seen.has(code))
      .map((code) => `other-codes.csv: OpenTravelData has no such ${code}`),
  ];
}
