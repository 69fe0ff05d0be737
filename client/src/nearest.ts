import type { AirportPlace } from "./catalog.ts";
import { distanceKm, type Position } from "./distance.ts";
import { type CountryNames, type Suggestion, suggestionOf } from "./suggestion.ts";

export interface NearestOptions {
  /** At most so many airports. Default: 10. */
  readonly limit?: number;
  /** None that is farther away. Default: however far. */
  readonly withinKm?: number;
}

export interface NearestArgument {
  readonly position: Position;
  readonly limit: number;
  readonly withinKm: number;
}

/** An airport near a position. */
export interface NearAirport extends Suggestion {
  /** Along the great circle. */
  readonly distanceKm: number;
}

/**
 * Finds the airports with scheduled service that are nearest to a position, the nearest first; all
 * airports where nothing is known of their service.
 */
export function nearestTo(
  airports: readonly AirportPlace[],
  { position, limit, withinKm }: NearestArgument,
  countryName: CountryNames,
): NearAirport[] {
  const scheduled = airports.filter(({ hasScheduledService }) => hasScheduledService);
  return byDistance(scheduled.length > 0 ? scheduled : airports, position)
    .slice(0, limit)
    .filter(({ km }) => km <= withinKm)
    .map(({ airport, km }) => ({
      ...suggestionOf(airport, { isUnderCity: false, countryName }),
      distanceKm: km,
    }));
}

/** Airports with their distances from a position, the nearest first. */
export function byDistance(
  airports: readonly AirportPlace[],
  from: Position,
): { readonly airport: AirportPlace; readonly km: number }[] {
  return airports
    .map((airport) => ({ airport, km: distanceKm(from, airport) }))
    .toSorted((a, b) => a.km - b.km);
}
