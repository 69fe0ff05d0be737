import type { AirportPlace, CityPlace } from "../../../../client/src/catalog.ts";
import { project, type WorldPoint } from "./mercator.ts";
import type { WorldOutline } from "./outline.ts";

/** An airport on the map. */
export interface MapPoint extends WorldPoint {
  readonly place: AirportPlace;
}

/** A name on the map. */
export interface MapLabel extends WorldPoint {
  readonly text: string;
}

/** Content of the map, independent of the view. */
export interface MapScene {
  readonly outline: WorldOutline | undefined;
  /** The least important first, so that the others are drawn over them. */
  readonly points: readonly MapPoint[];
  /** The largest first. */
  readonly cities: readonly MapLabel[];
  /** Names of countries by alpha-2 code. */
  readonly countryNames: ReadonlyMap<string, string>;
  /** Points of the selection. */
  readonly highlighted: readonly MapPoint[];
  /** Alpha-2 codes of the selected countries. */
  readonly highlightedCodes: ReadonlySet<string>;
  readonly hovered: MapPoint | undefined;
}

export const EMPTY_SCENE: MapScene = {
  outline: undefined,
  points: [],
  cities: [],
  countryNames: new Map(),
  highlighted: [],
  highlightedCodes: new Set(),
  hovered: undefined,
};

/** Largest distance in pixels between a pointer and its point. */
const HIT_RADIUS = 12;
/** How many times as large as at first the map shows airports without scheduled service. */
const ALL_TIERS_ZOOM = 2.5;

/** Projects airports onto the map. */
export function mapPoints(airports: readonly AirportPlace[]): MapPoint[] {
  return airports
    .toSorted((a, b) => b.rank - a.rank)
    .map((place) => ({ place, ...project(place.lon, place.lat) }));
}

/** Projects the names of cities with scheduled service. */
export function cityLabels(cities: readonly CityPlace[]): MapLabel[] {
  return cities
    .filter(({ airports }) => airports.some(({ tier }) => tier < 3))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ name, lon, lat }) => ({ text: name, ...project(lon, lat) }));
}

/** Whether an airport is shown, at so many times the size of the whole world. */
export function isShown({ place }: MapPoint, zoom: number): boolean {
  return place.tier < 3 || zoom >= ALL_TIERS_ZOOM;
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
