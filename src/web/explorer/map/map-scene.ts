import type { AirportPlace, Place } from "../catalog-index.ts";
import { project, type WorldPoint } from "./mercator.ts";
import type { Shape, WorldOutline } from "./world-outline.ts";

/** An airport on the map. */
export interface MapPoint extends WorldPoint {
  readonly place: AirportPlace;
}

/** Content of the map, independent of the view. */
export interface MapScene {
  readonly outline: WorldOutline | undefined;
  readonly points: readonly MapPoint[];
  /** Points of the selection. */
  readonly highlighted: readonly MapPoint[];
  /** Lands of the selection. */
  readonly highlightedLands: readonly Shape[];
  readonly hovered: MapPoint | undefined;
}

/** Largest distance in pixels between a pointer and its point. */
const HIT_RADIUS = 12;

/** Projects airports onto the map. */
export function mapPoints(airports: readonly AirportPlace[]): MapPoint[] {
  return airports.map((place) => ({ place, ...project(place.airport.lon, place.airport.lat) }));
}

/** Returns the airports of a place. */
export function airportsOf(place: Place): readonly AirportPlace[] {
  return place.kind === "airport" ? [place] : place.airports;
}

/** Finds the point nearest to a position in worlds. `k` is the width of one world in pixels. */
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
