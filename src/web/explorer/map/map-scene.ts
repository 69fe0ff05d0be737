import type { AirportPlace, Place } from "../catalog-index.ts";
import { project, type WorldPoint } from "./mercator.ts";
import type { Shape, WorldOutline } from "./world-outline.ts";

/** An airport on the map. */
export interface MapPoint extends WorldPoint {
  readonly place: AirportPlace;
}

/** Everything that a frame of the map is drawn from, apart from where one looks. */
export interface MapScene {
  readonly outline: WorldOutline | undefined;
  readonly points: readonly MapPoint[];
  /** Points of the selection. */
  readonly highlighted: readonly MapPoint[];
  /** Lands of the selection. */
  readonly highlightedLands: readonly Shape[];
  readonly hovered: MapPoint | undefined;
}

/** How close, in pixels, a pointer must be to a point. */
const HIT_RADIUS = 12;

/** Puts airports onto the map. */
export function mapPoints(airports: readonly AirportPlace[]): MapPoint[] {
  return airports.map((place) => ({ place, ...project(place.airport.lon, place.airport.lat) }));
}

/** Airports that a place consists of. */
export function airportsOf(place: Place): readonly AirportPlace[] {
  return place.kind === "airport" ? [place] : place.airports;
}

/** The point nearest to a position on the map, given in worlds. `k` is the pixels of one world. */
export function pointAt(
  points: readonly MapPoint[],
  { x, y }: WorldPoint,
  k: number,
): MapPoint | undefined {
  const inWorld = x - Math.floor(x);
  let best: MapPoint | undefined;
  let bestDistance = HIT_RADIUS / k;
  for (const point of points) {
    const distance = Math.hypot(point.x - inWorld, point.y - y);
    if (distance < bestDistance) {
      best = point;
      bestDistance = distance;
    }
  }
  return best;
}
