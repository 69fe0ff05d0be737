/** A point in the unit square of Mercator's projection: x to the east, y to the south. */
export interface WorldPoint {
  readonly x: number;
  readonly y: number;
}

/** Latitude at which Mercator's projection leaves the square. */
const LIMIT_DEGREES = 85.051129;

/** Projects degrees (WGS 84) into the unit square. */
export function project(lon: number, lat: number): WorldPoint {
  const clamped = Math.max(-LIMIT_DEGREES, Math.min(LIMIT_DEGREES, lat));
  const sine = Math.sin((clamped * Math.PI) / 180);
  return {
    x: lon / 360 + 0.5,
    y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI),
  };
}

/** The inverse of `project`, for any copy of the world. */
export function unproject({ x, y }: WorldPoint): { readonly lat: number; readonly lon: number } {
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
  return { lat, lon: (x - Math.floor(x)) * 360 - 180 };
}
