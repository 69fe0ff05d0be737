import {
  type AirportPlace,
  type Catalog,
  type CountryPlace,
  inTasks,
  type Place,
} from "../../../client/src/catalog.ts";
import { ENGLISH, type Speech } from "../speech.ts";
import { UNRANKED } from "../../../client/src/search/ranks.ts";
import { cellOf } from "./cell.ts";
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

/** A country that is shaded: as a whole, or only these areas, by their corners. */
interface Shade {
  /** Alpha-2 code. */
  readonly code: string;
  readonly cells: readonly (readonly WorldPoint[])[] | undefined;
}

/** A city on the map. */
interface MapCity extends WorldPoint {
  readonly name: string;
  /** Of its busiest airport. */
  readonly rank: number;
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
  /** Names of countries by alpha-2 code, those with most traffic first. */
  readonly countryNames: ReadonlyMap<string, string>;
  /** Airports that the catalog has no more, if its changes are shown. */
  readonly removed: readonly RemovedPoint[];
  /** Points of the selection. */
  readonly highlighted: readonly MapPoint[];
  /** What of the selected countries is shaded. */
  readonly shades: readonly Shade[];
  /** Where somebody asks for the nearest airports, which are highlighted. */
  readonly spot: WorldPoint | undefined;
  readonly hovered: MapPoint | undefined;
  readonly speech: Speech;
}

export const EMPTY_SCENE: MapScene = {
  outline: undefined,
  water: undefined,
  points: [],
  cities: [],
  countryNames: new Map(),
  removed: [],
  highlighted: [],
  shades: [],
  spot: undefined,
  hovered: undefined,
  speech: ENGLISH,
};

/** Largest distance in pixels between a pointer and its point. */
const HIT_RADIUS = 12;
/** How many times as large as at first the map shows airports without scheduled service. */
const ALL_TIERS_ZOOM = 2.5;

/** Projects airports onto the map. */
export function mapPoints(airports: readonly AirportPlace[]): MapPoint[] {
  return leastImportantFirst(airports).map(pointOf);
}

function leastImportantFirst(airports: readonly AirportPlace[]): AirportPlace[] {
  return airports.toSorted((a, b) => b.rank - a.rank);
}

function pointOf(place: AirportPlace): MapPoint {
  return { place, ...project(place.lon, place.lat) };
}

/** Shades a country, or of each country in a region what is nearest to the region's airports. */
export function shadesOf(place: Place | undefined): Shade[] {
  if (place?.kind === "country") return [{ code: place.code, cells: undefined }];
  if (place?.kind !== "region") return [];
  const within = new Set(place.airports);
  const countries = Map.groupBy(place.airports, ({ city }) => city.country);
  return [...countries].map(([{ code, airports }, ofRegion]) => {
    const others = airports.filter((airport) => !within.has(airport)).map(pointOf);
    const cells = ofRegion.map((airport) => cellOf(pointOf(airport), others));
    return { code, cells: others.length === 0 ? undefined : cells };
  });
}

/** The map's view of a catalog. */
export interface MapPlaces extends Pick<MapScene, "points" | "cities"> {
  /** Those with most traffic first. */
  readonly countries: readonly CountryPlace[];
}

/** An airport's share of the traffic falls with its rank about like this, as a number without unit. */
function trafficOf({ rank }: AirportPlace): number {
  return rank === UNRANKED ? 0 : 1 / (20 + rank);
}

/** Projects a catalog onto the map, in tasks so short that the page stays quick. */
export async function mapCatalog({ airports, cities, countries }: Catalog): Promise<MapPlaces> {
  const points = new Map<AirportPlace, MapPoint>();
  await inTasks(leastImportantFirst(airports), (place) => points.set(place, pointOf(place)));
  const found: MapCity[] = [];
  await inTasks(cities, ({ name, lon, lat, airports: ofCity }) => {
    const scheduled = ofCity.filter(({ tier }) => tier < 3);
    const busiestFirst = scheduled
      .flatMap((place) => points.get(place) ?? [])
      .toSorted((a, b) => a.place.rank - b.place.rank);
    const [busiest] = busiestFirst;
    if (busiest === undefined) return;
    const { rank } = busiest.place;
    found.push({ name, rank, ...project(lon, lat), airports: busiestFirst });
  });
  const traffic = new Map<CountryPlace, number>();
  await inTasks(countries, (country) =>
    traffic.set(
      country,
      country.airports.reduce((sum, airport) => sum + trafficOf(airport), 0),
    ),
  );
  return {
    points: [...points.values()],
    cities: found.toSorted((a, b) => a.rank - b.rank),
    countries: [...traffic].toSorted(([, a], [, b]) => b - a).map(([country]) => country),
  };
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
