/** Compares positions. Pure. */

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

/** Two airports of one code this near to each other are one, whatever their rows are called. */
const SAME_AIRPORT_KM = 10;

export function isNear(a: Position, b: Position): boolean {
  return distanceKm(a, b) <= SAME_AIRPORT_KM;
}
