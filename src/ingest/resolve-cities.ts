import { foldText } from "../catalog/fold.ts";
import { cityId, compareIds, countryId } from "../catalog/ids.ts";
import type { City } from "../catalog/model.ts";
import { distanceKm, meanPosition, roundDegrees } from "../catalog/positions.ts";
import type { CityTables } from "../sources/city-tables.ts";
import { Nearby } from "../sources/nearby.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import { spellingKey } from "../sources/place-names.ts";
import { type CityRule, findCity, newCityName } from "./find-city.ts";

/** Source of an airport's city: its id, a rule, or none, so that the city is made. */
type CityOrigin = "known_airport" | CityRule | "synthetic";

/** Number of airports by the source of their city. */
export type CityOrigins = { readonly [O in CityOrigin]: number };

/** Airports of one new city are this near to the first of them. */
const NEW_CITY_MAX_KM = 50;

export interface ResolvedCities {
  /** In order of ids. */
  readonly cities: readonly City[];
  /** Id of each airport's city, parallel to the airports. */
  readonly cityIds: readonly Uint8Array[];
  readonly origins: CityOrigins;
}

/**
 * Finds the city of each airport, and makes the cities that no table has. Pure: no clock, no I/O.
 *
 * @param tables the snapshot's cities of these airports.
 */
export function resolveCities(
  airports: readonly SourceAirport[],
  tables: CityTables,
): ResolvedCities {
  const origins = { known_airport: 0, municipality: 0, airport_name: 0, nearest: 0, synthetic: 0 };
  const places = new Nearby(tables.places);
  const known = airports.map((airport) => {
    const key = tables.cityOfAirport.get(airport.id);
    if (key !== undefined) {
      origins.known_airport++;
      return tables.cities.get(key);
    }
    const found = findCity(airport, places);
    origins[found?.rule ?? "synthetic"]++;
    return found?.place.city;
  });
  const made = makeCities(
    airports.filter((_, index) => known[index] === undefined),
    tables,
  );
  const cities = known.map((city, index) => {
    const itsCity = city ?? made.get(airports[index]?.id ?? "");
    if (itsCity === undefined) throw new Error(`airport ${airports[index]?.id} has no city`);
    return itsCity;
  });
  return {
    cities: [...new Set(cities)].toSorted((a, b) => compareIds(a.id, b.id)),
    cityIds: cities.map(({ id }) => id),
    origins,
  };
}

interface NewCity {
  readonly key: string;
  readonly name: string;
  readonly airports: SourceAirport[];
}

/**
 * Makes cities by airport id: one for the airports of one name that are near to each other. Its key
 * has the subdivision and name of its first airport; where another city has that key, also the
 * airport's id.
 */
function makeCities(
  airports: readonly SourceAirport[],
  { cities }: CityTables,
): ReadonlyMap<string, City> {
  const made = new Map<string, NewCity>();
  const byName = new Map<string, NewCity[]>();
  for (const airport of airports.toSorted((a, b) => Number(a.id) - Number(b.id))) {
    const name = newCityName(airport);
    const spelling = `${airport.country}:${spellingKey(name) || airport.id}`;
    const namesakes = byName.get(spelling) ?? [];
    byName.set(spelling, namesakes);
    const near = namesakes.find(
      ({ airports: [first] }) =>
        first !== undefined && distanceKm(first, airport) <= NEW_CITY_MAX_KM,
    );
    if (near !== undefined) {
      near.airports.push(airport);
      continue;
    }
    const key = freeKey(airport, name, (taken) => cities.has(taken) || made.has(taken));
    const city = { key, name, airports: [airport] };
    made.set(key, city);
    namesakes.push(city);
  }
  return new Map(
    [...made.values()].flatMap((newCity) => {
      const city = toCity(newCity);
      return newCity.airports.map(({ id }) => [id, city] as const);
    }),
  );
}

function freeKey(
  { id, region }: SourceAirport,
  name: string,
  isTaken: (key: string) => boolean,
): string {
  const folded = foldText(name);
  const key = `ourairports:${region}:${folded || `airport-${id}`}`;
  return isTaken(key) ? `ourairports:${region}:${folded}-${id}` : key;
}

function toCity({ key, name, airports }: NewCity): City {
  const { lat, lon } = meanPosition(airports);
  return {
    id: cityId(key),
    name,
    countryId: countryId(airports[0]?.country ?? ""),
    lat: roundDegrees(lat),
    lon: roundDegrees(lon),
  };
}
