import { formatNumberOf } from "../shared/format.ts";
import type { AirportPlace, Catalog, CityPlace, Place } from "../../../client/src/catalog.ts";
import { subdivisionOf } from "../../../client/src/suggestion.ts";
import type { Selection } from "./permalink.ts";

/** Finds the place of a link; undefined if the catalog lacks it. */
export function findPlace(catalog: Catalog, { kind, key }: Selection): Place | undefined {
  const { airports, cities, countries, regions } = catalog;
  const list = { airport: airports, city: cities, country: countries, region: regions }[kind];
  return list.find((place) => keyOf(place) === key);
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
      return place.id;
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

/** Returns a note that tells apart places of one name. */
export function placeContext(place: Place): string {
  switch (place.kind) {
    case "airport":
      return `${place.city.name}, ${place.city.country.name}`;
    case "city": {
      const region = subdivisionOf(place);
      return `${region ? `${region.name}, ` : ""}${place.country.name}`;
    }
    case "country":
      return place.code3;
    case "region":
      return place.nameEnglish === place.name ? countAirports(place) : place.nameEnglish;
    default:
      return place satisfies never;
  }
}

/** Counts the airports of a place in words. */
export function countAirports({ airports }: { readonly airports: readonly unknown[] }): string {
  return formatNumberOf(airports.length, "airport");
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
