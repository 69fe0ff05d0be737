import { foldText } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import { readCurated } from "./curated.ts";
import type { Assignment, City, CityOrigin } from "./city.ts";
import { type Gazetteer, type GeoPlace, nameKey } from "./gazetteer.ts";
import { municipalityVariants, placeInAirportName } from "./place-names.ts";
import { SyntheticCities } from "./synthetic-cities.ts";
import { compareCodeUnits, roundCoordinate, tidy } from "./text.ts";

const SERVED_CITY_MAX_KM = 75;
const MUNICIPALITY_MAX_KM = 50;
const AIRPORT_NAME_MAX_KM = 30;
const NEAREST_MAX_KM = 20;

/** Every name that the resolution of these airports can ask the gazetteer for. */
export function wantedNames(
  airports: readonly AirportRow[],
  served: ReadonlyMap<number, string>,
): Set<string> {
  const wanted = new Set<string>();
  for (const airport of airports) {
    const names = [...municipalityVariants(airport.municipality), placeInAirportName(airport.name)];
    const city = served.get(airport.id);
    if (city !== undefined) names.push(city);
    for (const name of names) wanted.add(nameKey(airport.country, name));
  }
  return wanted;
}

interface Sources {
  readonly airports: readonly AirportRow[];
  readonly served: ReadonlyMap<number, string>;
  readonly gazetteer: Gazetteer;
}

/** Gives every airport its city, in the order of the airports. */
export function resolveCities(sources: Sources): Assignment[] {
  const overrides = readOverrides(sources.gazetteer);
  const names = readNames();
  const synthetic = new SyntheticCities();
  const known = sources.airports.map((airport) => {
    const override = overrides.get(airport.iata);
    const found = override
      ? { place: override, origin: "override" as const }
      : findPlace(airport, sources);
    if (found === undefined) synthetic.add(airport, sources.served.get(airport.id));
    return { airport, found };
  });
  return known.map(({ airport, found }): Assignment => {
    if (found === undefined) return { airport, city: synthetic.city(airport), origin: "synthetic" };
    return { airport, city: toCity(found.place, names), origin: found.origin };
  });
}

interface Found {
  readonly place: GeoPlace;
  readonly origin: CityOrigin;
}

function findPlace(airport: AirportRow, { served, gazetteer }: Sources): Found | undefined {
  const { country } = airport;
  const servedCity = served.get(airport.id);
  if (servedCity !== undefined) {
    const place = gazetteer.named({
      name: servedCity,
      country,
      near: airport,
      maxKm: SERVED_CITY_MAX_KM,
    });
    if (place) return { place, origin: "served_city" };
  }
  for (const name of municipalityVariants(airport.municipality)) {
    const place = gazetteer.named({ name, country, near: airport, maxKm: MUNICIPALITY_MAX_KM });
    if (place) return { place, origin: "municipality" };
  }
  if (foldText(airport.municipality) !== "" || servedCity !== undefined) return undefined;
  const place =
    gazetteer.named({
      name: placeInAirportName(airport.name),
      country,
      near: airport,
      maxKm: AIRPORT_NAME_MAX_KM,
    }) ?? gazetteer.nearest({ country, near: airport, maxKm: NEAREST_MAX_KM });
  return place && { place, origin: "nearest" };
}

function toCity(place: GeoPlace, names: ReadonlyMap<string, string>): City {
  const key = `geonames:${place.id}`;
  return {
    key,
    name: names.get(key) ?? tidy(place.name),
    country: place.country,
    lat: roundCoordinate(place.lat),
    lon: roundCoordinate(place.lon),
  };
}

function readOverrides(gazetteer: Gazetteer): ReadonlyMap<string, GeoPlace> {
  const overrides = new Map<string, GeoPlace>();
  for (const { iata, geonames } of readCurated<"iata" | "geonames">("airport-cities")) {
    const place = gazetteer.place(Number(geonames));
    if (place === undefined) throw new Error(`airport-cities.csv: no GeoNames place ${geonames}`);
    overrides.set(iata, place);
  }
  return overrides;
}

function readNames(): ReadonlyMap<string, string> {
  return new Map(readCurated<"key" | "name">("city-names").map((row) => [row.key, row.name]));
}

/** The cities of the assignments, each once, by key. */
export function distinctCities(assignments: readonly Assignment[]): City[] {
  const cities = new Map(assignments.map(({ city }) => [city.key, city]));
  return [...cities.values()].toSorted((a, b) => compareCodeUnits(a.key, b.key));
}
