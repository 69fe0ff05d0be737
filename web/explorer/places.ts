import { ENTITY_KINDS, NAMESPACE, SOURCES } from "../../src/catalog/id-origin.ts";
import type { AirportPlace, Catalog, CityPlace, Place } from "../../client/src/catalog.ts";
import { byDistance } from "../../client/src/nearest.ts";
import { type CountryNames, countryNamesIn, subdivisionOf } from "../../client/src/suggestion.ts";
import type { ClosedAirport } from "../../client/src/search/ranks.ts";
import { foldForSearch } from "../../client/src/search/fold.ts";
import type { Position, Selection } from "./permalink.ts";
import type { Speech } from "./speech.ts";

/** How the id of each city starts. */
const CITY = `${NAMESPACE}${ENTITY_KINDS.city}`.replace(/(.{8})(.{4})(.{4})/, "$1-$2-$3-");

/** Finds the place of a link; undefined if the catalog lacks it. */
export function findPlace(catalog: Catalog, { kind, key }: Selection): Place | undefined {
  const { airports, cities, countries, regions } = catalog;
  const list = { airport: airports, city: cities, country: countries, region: regions }[kind];
  const wanted = kind === "city" ? cityIdOf(key) : key;
  return list.find((place) => (kind === "city" ? place.id : keyOf(place)) === wanted);
}

/** The id of a city by its key, of which only the number counts. An id stands for itself. */
function cityIdOf(key: string): string {
  const [, mark, number = ""] = /-(x?)([0-9a-f]{1,12})$/.exec(key) ?? [];
  if (mark === undefined || key.startsWith(CITY)) return key;
  const source = mark === "" ? SOURCES.geonames : SOURCES.ourairports;
  return `${CITY}${source}-${number.padStart(12, "0")}`;
}

/** A city's name, for people, with its number at GeoNames or, after an x, at OurAirports. */
function cityKey({ id, name }: CityPlace): string {
  const mark = id.startsWith(CITY + SOURCES.geonames) ? "" : "x";
  const number = id.slice(id.lastIndexOf("-") + 1).replace(/^0+/, "");
  return `${foldForSearch(name).replaceAll(" ", "-")}-${mark}${number}`;
}

/** Returns the selection of a place for a link. */
export function selectionOf(place: Place): Selection {
  return { kind: place.kind, key: keyOf(place) };
}

function keyOf(place: Place): string {
  switch (place.kind) {
    case "airport":
      return place.iata;
    case "city":
      return cityKey(place);
    case "country":
      return place.code;
    case "region":
      return place.slug;
    default:
      return place satisfies never;
  }
}

/** Returns the airports of a place. */
export function airportsOf(place: Place): readonly AirportPlace[] {
  return place.kind === "airport" ? [place] : place.airports;
}

const countryNames = new Map<string, CountryNames>();

/** Returns the name of a place for readers of a locale. */
export function nameIn(locale: string, place: Place): string {
  if (place.kind === "city") return place.nameLocal;
  if (place.kind !== "country") return place.name;
  const nameOf = countryNames.get(locale) ?? countryNamesIn(locale);
  countryNames.set(locale, nameOf);
  return nameOf(place);
}

/** Returns a note that tells apart places of one name. */
export function placeContext(place: Place, speech: Speech): string {
  switch (place.kind) {
    case "airport":
      return `${place.city.nameLocal}, ${place.city.country.name}`;
    case "city": {
      const region = subdivisionOf(place);
      return `${region ? `${region.name}, ` : ""}${place.country.name}`;
    }
    case "country":
      return place.code3;
    case "region":
      return place.nameEnglish === place.name
        ? speech.countAirports(place.airports.length)
        : place.nameEnglish;
    default:
      return place satisfies never;
  }
}

/** Names a closed airport for its successor, such as `Berlin Tegel (TXL) since 2020`. */
export function closedText({ name, iata, year }: ClosedAirport, { fill, words }: Speech): string {
  const place = `${name}${iata === "" ? "" : ` (${iata})`}`;
  return fill(words.since, { place, year: String(year) });
}

/** Orders airports: the busiest first, then those of large cities. */
export function byImportance(a: AirportPlace, b: AirportPlace): number {
  return a.rank - b.rank || a.city.rank - b.city.rank || (a.iata < b.iata ? -1 : 1);
}

/** Orders cities: with scheduled service first, then by size. */
export function byCitySize(a: CityPlace, b: CityPlace): number {
  return bestTier(a) - bestTier(b) || a.rank - b.rank || (a.name < b.name ? -1 : 1);
}

/** Orders countries and regions by their number of airports. */
export function byAirports<P extends Exclude<Place, AirportPlace>>(a: P, b: P): number {
  return b.airports.length - a.airports.length || (a.name < b.name ? -1 : 1);
}

function bestTier({ airports }: CityPlace): number {
  return Math.min(...airports.map(({ tier }) => tier)) === 3 ? 1 : 0;
}

/** An airport with its distance from somewhere. */
export interface NearAirport {
  readonly airport: AirportPlace;
  readonly km: number;
}

export interface NearestAirports {
  readonly scheduled: readonly NearAirport[];
  /** Without scheduled service, and no farther away than the last of those with it. */
  readonly others: readonly NearAirport[];
}

const NEAREST = { scheduled: 8, others: 5 } as const;

/** Finds the airports nearest to a position, the nearest first. */
export function nearestAirports(
  airports: readonly AirportPlace[],
  from: Position,
): NearestAirports {
  const sorted = byDistance(airports, from);
  const scheduled = sorted.filter(({ airport }) => airport.tier < 3).slice(0, NEAREST.scheduled);
  const farthest = scheduled.at(-1)?.km ?? Infinity;
  const others = sorted.filter(({ airport, km }) => airport.tier === 3 && km <= farthest);
  return { scheduled, others: others.slice(0, NEAREST.others) };
}
