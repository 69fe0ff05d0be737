import { distanceKm, type Position } from "../catalog/positions.ts";

/** A position in a country (ISO 3166-1 alpha-2 code). */
export interface Spot extends Position {
  readonly country: string;
}

/** Kilometres of one degree of latitude, rounded down. */
const DEGREE_KM = 111;

/** Finds what is near in the same country. Looks only at bands of latitude around the position. */
export class Nearby<T extends Spot> {
  readonly #bands: ReadonlyMap<string, readonly T[]>;

  constructor(spots: readonly T[]) {
    this.#bands = Map.groupBy(spots, ({ country, lat }) => bandKey(country, Math.floor(lat)));
  }

  /** Yields all within a distance. */
  *within({ country, lat, lon }: Spot, maxKm: number): Generator<{ spot: T; km: number }> {
    const reach = maxKm / DEGREE_KM;
    for (let band = Math.floor(lat - reach); band <= lat + reach; band++)
      for (const spot of this.#bands.get(bandKey(country, band)) ?? []) {
        const km = distanceKm(spot, { lat, lon });
        if (km <= maxKm) yield { spot, km };
      }
  }
}

function bandKey(country: string, band: number): string {
  return `${country}:${band}`;
}
