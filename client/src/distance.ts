/** A position in degrees, WGS 84. */
export interface Position {
  readonly lat: number;
  readonly lon: number;
}

const EARTH_RADIUS_KM = 6371;

/** The length of the great circle between two positions (haversine). */
export function distanceKm(a: Position, b: Position): number {
  const [fromLat, toLat, lat, lon] = [a.lat, b.lat, b.lat - a.lat, b.lon - a.lon].map(
    (degrees) => (degrees * Math.PI) / 180,
  ) as [number, number, number, number]; // as many as above
  const h = Math.sin(lat / 2) ** 2 + Math.cos(fromLat) * Math.cos(toLat) * Math.sin(lon / 2) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}
