import type { AirportPlace, CityPlace } from "../../../client/src/catalog.ts";
import { UNRANKED } from "../../../client/src/search/ranks.ts";
import { project, type WorldPoint } from "./mercator.ts";
import type { WorldOutline, WorldWater } from "./outline.ts";

/** An airport on the map. */
export interface MapPoint extends WorldPoint {
  readonly place: AirportPlace;
}

/** Where an airport was. */
interface RemovedPoint extends WorldPoint {
  readonly iata: string;
}

/** A city on the map. */
interface MapCity extends WorldPoint {
  readonly name: string;
  /** Those with scheduled service, the busiest first. */
  readonly airports: readonly MapPoint[];
}

/** Content of the map, independent of the view. */
export interface MapScene {
  readonly outline: WorldOutline | undefined;
  /** Lakes and rivers, once somebody has looked closely. */
  readonly water: WorldWater | undefined;
  /** The least important first, so that the others are drawn over them. */
  readonly points: readonly MapPoint[];
  /** Those with scheduled service, the busiest first. */
  readonly cities: readonly MapCity[];
  /** Names of countries by alpha-2 code. */
  readonly countryNames: ReadonlyMap<string, string>;
  /** Airports that the catalog has no more, if its changes are shown. */
  readonly removed: readonly RemovedPoint[];
  /** Points of the selection. */
  readonly highlighted: readonly MapPoint[];
  /** Alpha-2 codes of the selected countries. */
  readonly highlightedCodes: ReadonlySet<string>;
  /** Where somebody asks for the nearest airports, which are highlighted. */
  readonly spot: WorldPoint | undefined;
  readonly hovered: MapPoint | undefined;
}

export const EMPTY_SCENE: MapScene = {
  outline: undefined,
  water: undefined,
  points: [],
  cities: [],
  countryNames: new Map(),
  removed: [],
  highlighted: [],
  highlightedCodes: new Set(),
  spot: undefined,
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

/** Projects the cities with scheduled service onto the map. */
export function mapCities(cities: readonly CityPlace[]): MapCity[] {
  const rankOf = ({ airports: [busiest] }: MapCity) => busiest?.place.rank ?? UNRANKED;
  return cities
    .map(({ name, lon, lat, airports }) => {
      const scheduled = airports.filter(({ tier }) => tier < 3);
      return { name, ...project(lon, lat), airports: mapPoints(scheduled).toReversed() };
    })
    .filter(({ airports }) => airports.length > 0)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
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
