import type { Assignment, City } from "./city.ts";
import { toCity } from "./cities.ts";
import { plainName } from "./city-names.ts";
import type { Gazetteer, GeoPlace } from "./gazetteer.ts";
import { compareCodeUnits } from "./text.ts";

/** From this many inhabitants on, a place is in the snapshot without an airport: 280 KB of them. */
const SPARE_CITY = 20_000;

/** The larger places that have no airport yet, by country and GeoNames id. */
export function findSpareCities(
  assignments: readonly Assignment[],
  gazetteer: Gazetteer,
  regionOf: (place: GeoPlace) => string,
): City[] {
  const used = new Set(assignments.map(({ city }) => city.key));
  return gazetteer
    .largest(SPARE_CITY)
    .toSorted((a, b) => compareCodeUnits(a.country, b.country) || a.id - b.id)
    .map((place) => toCity(place, plainName(place), regionOf(place)))
    .filter(({ key }) => !used.has(key));
}
