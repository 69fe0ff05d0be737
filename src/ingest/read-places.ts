import type { Places } from "../acceptance/surprises.ts";
import { readCityTables } from "../sources/city-tables.ts";
import { Nearby } from "../sources/nearby.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import { spellingKey } from "../sources/place-names.ts";
import { type OpenSnapshotFile, readRegions } from "../sources/reference.ts";
import { findCity, newCityName } from "./find-city.ts";

/**
 * Reads what the snapshot knows of cities and regions.
 *
 * @param unknown the airports that it lacks. What upstream writes of another one moves it to no
 * other city.
 */
export async function readPlaces(
  open: OpenSnapshotFile,
  unknown: readonly SourceAirport[],
): Promise<Places> {
  return { cityOf: await readCities(open, unknown), regionOf: await readRegionKeys(open) };
}

async function readCities(
  open: OpenSnapshotFile,
  unknown: readonly SourceAirport[],
): Promise<Places["cityOf"]> {
  if (unknown.length === 0) return () => "";
  const ids = new Set(unknown.map(({ id }) => id));
  const { places } = await readCityTables(open, unknown);
  const nearby = new Nearby(places);
  return (airport) =>
    ids.has(airport.id)
      ? (findCity(airport, nearby)?.place.key ?? spellingKey(newCityName(airport)))
      : "";
}

async function readRegionKeys(open: OpenSnapshotFile): Promise<Places["regionOf"]> {
  const keys = new Map<string, string>();
  for (const { key, members } of await readRegions(open))
    if (key.startsWith("iso3166-")) for (const member of members) keys.set(member, key);
  return (code) => {
    // Upstream's codes for what is in no subdivision end in "U-A"; a territory may be undivided.
    const isDummy = code.endsWith("-U-A");
    return keys.get(isDummy ? code.slice(0, 2) : code) ?? (isDummy ? "" : code);
  };
}
