import type { AirportRow } from "./airports.ts";
import type { Gazetteer, GeoPlace } from "./gazetteer.ts";

const NEAR_KM = 100;

/** Share of the airports in a subdivision of GeoNames that upstream must have in one of its own. */
const AGREED = 0.8;

/**
 * Finds upstream's code of the subdivision that a place is in, by the airports around: GeoNames has
 * codes of its own. Empty where upstream divides the country otherwise.
 */
export function regionFinder(
  airports: readonly AirportRow[],
  gazetteer: Gazetteer,
): (place: GeoPlace) => string {
  const votes = airports.flatMap((airport) => {
    const place = gazetteer.nearest({ country: airport.country, near: airport, maxKm: NEAR_KM });
    return place === undefined
      ? []
      : [{ subdivision: subdivisionOf(place), region: airport.region }];
  });
  const regions = new Map<string, string>();
  for (const [subdivision, its] of Map.groupBy(votes, (vote) => vote.subdivision))
    for (const [region, same] of Map.groupBy(its, (vote) => vote.region))
      if (same.length >= its.length * AGREED) regions.set(subdivision, region);
  return (place) => regions.get(subdivisionOf(place)) ?? "";
}

function subdivisionOf({ country, subdivision }: GeoPlace): string {
  return `${country} ${subdivision}`;
}
