/** A position in degrees, WGS 84. */
export interface Position {
  readonly lat: number;
  readonly lon: number;
}

const EARTH_DIAMETER_KM = 12_742;
const RADIANS = Math.PI / 180;

/** Great-circle distance in kilometres (haversine on a sphere). */
export function distanceKm(a: Position, b: Position): number {
  const lat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const lon = Math.sin(((b.lon - a.lon) * RADIANS) / 2);
  const h = lat * lat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * lon * lon;
  return EARTH_DIAMETER_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The mean direction of the positions, which also holds across the antimeridian. */
export function meanPosition(positions: readonly Position[]): Position {
  const [only, ...others] = positions;
  if (only !== undefined && others.length === 0) return { lat: only.lat, lon: only.lon };
  let [x, y, z] = [0, 0, 0];
  for (const { lat, lon } of positions) {
    const [phi, lambda] = [lat * RADIANS, lon * RADIANS];
    x += Math.cos(phi) * Math.cos(lambda);
    y += Math.cos(phi) * Math.sin(lambda);
    z += Math.sin(phi);
  }
  return { lat: Math.atan2(z, Math.hypot(x, y)) / RADIANS, lon: Math.atan2(y, x) / RADIANS };
}

/** Two airports of one code this near to each other are one, whatever their rows are called. */
const SAME_AIRPORT_KM = 10;

export function isNear(a: Position, b: Position): boolean {
  return distanceKm(a, b) <= SAME_AIRPORT_KM;
}

/**
 * Rounds degrees to four decimals, without a negative zero. That is 11 m: sources publish an
 * aerodrome's reference point to a second of arc (30 m), and a city has no exact position.
 */
export function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e4) / 1e4 + 0;
}

/** A position in a country (ISO 3166-1 alpha-2 code). */
export interface Spot extends Position {
  readonly country: string;
}

/** Kilometres of one degree of latitude, rounded down. */
const DEGREE_KM = 111;

/** Finds near positions in the same country. Looks only at bands of latitude around the position. */
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
