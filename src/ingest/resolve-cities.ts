import { foldText } from "../catalog/fold.ts";
import { cityId, compareIds, countryId } from "../catalog/ids.ts";
import type { City } from "../catalog/model.ts";
import { distanceKm, meanPosition, Nearby, roundDegrees } from "../catalog/positions.ts";
import {
  CITY_MAX_KM,
  type CityTables,
  type KnownPlace,
  LARGE_CITY,
} from "../sources/city-tables.ts";
import type { SourceAirport } from "../catalog/source-airport.ts";
import {
  citiesOfMunicipality,
  NAMESAKE,
  NAMESAKE_MAX_KM,
  namesWithin,
  placeInAirportName,
  placesInBrackets,
  plainPlace,
  spellingKey,
  VILLAGE,
} from "../sources/place-names.ts";

/** Greatest distance of a new city's airports from the first of them. */
const NEW_CITY_MAX_KM = 50;

export interface ResolvedCities {
  /** In order of ids. */
  readonly cities: readonly City[];
  /** Id of each airport's city, parallel to the airports. */
  readonly cityIds: readonly Uint8Array[];
}

/** Finds the city of each airport, in the snapshot's `tables` or as a new one. Pure: no clock, no I/O. */
export function resolveCities(
  airports: readonly SourceAirport[],
  tables: CityTables,
): ResolvedCities {
  const places = new Nearby(tables.places);
  const known = airports.map((airport) => {
    const key = tables.cityOfAirport.get(airport.id);
    return key === undefined ? findCity(airport, places)?.city : tables.cities.get(key);
  });
  const made = makeCities(
    airports.filter((_, index) => known[index] === undefined),
    tables,
  );
  const cities = known.map((city, index) => {
    const found = city ?? made.get(airports[index]?.id ?? "");
    if (found === undefined) throw new Error(`airport ${airports[index]?.id} has no city`);
    return found;
  });
  return {
    cities: [...new Set(cities)].toSorted((a, b) => compareIds(a.id, b.id)),
    cityIds: cities.map(({ id }) => id),
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
  { cities, largeCities }: CityTables,
): ReadonlyMap<string, City> {
  const made = new Map<string, NewCity>();
  const byName = new Map<string, NewCity[]>();
  for (const airport of airports.toSorted((a, b) => Number(a.id) - Number(b.id))) {
    const name = newCityName(airport, largeCities);
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

/** Greatest distance of a place in another subdivision, unless it is a large city. */
const OTHER_REGION_MAX_KM = 40;

/** Greatest distance of a city with whose name the airport's name starts. */
const NAMED_FIRST_MAX_KM = 40;

const NEAREST_MAX_KM = 5;

interface CityCandidate {
  readonly place: KnownPlace;
  readonly km: number;
  readonly sameRegion: boolean;
}

/**
 * Finds the city of an airport that the snapshot does not know: the place that its municipality
 * names, unless that is a village and the airport is named after a city nearby. Without a
 * municipality also the nearest place.
 */
export function findCity(
  airport: SourceAirport,
  places: Nearby<KnownPlace>,
): KnownPlace | undefined {
  const around = candidatesAround(airport, places);
  const municipality = findMunicipality(airport, around);
  const named = findNamesake(airport, municipality, around) ?? municipality;
  if (named !== undefined || spellingKey(airport.municipality) !== "") return named;
  const [nearest] = around
    .filter(({ km }) => km <= NEAREST_MAX_KM)
    .toSorted((a, b) => a.km - b.km || compareKeys(a, b));
  return bestNamed([placeInAirportName(airport.name)], around) ?? nearest?.place;
}

/**
 * Names a new city after its municipality without additions, or after the airport. A large city of the
 * municipality's name is not nearby, or the search would have found it. It only governs the airport,
 * unless the airport's name contains the city's.
 */
export function newCityName(
  { country, municipality, name }: SourceAirport,
  largeCities: ReadonlySet<string>,
): string {
  const [city] = citiesOfMunicipality(municipality);
  const isElsewhere =
    city !== undefined &&
    largeCities.has(`${country} ${spellingKey(city)}`) &&
    !namesWithin(name).some((words) => spellingKey(words) === spellingKey(city));
  return plainPlace((isElsewhere ? undefined : city) ?? (placeInAirportName(name) || name), name);
}

function candidatesAround(airport: SourceAirport, places: Nearby<KnownPlace>): CityCandidate[] {
  return [...places.within(airport, CITY_MAX_KM)]
    .map(({ spot: place, km }) => ({ place, km, sameRegion: place.region === airport.region }))
    .filter(
      ({ place, km, sameRegion }) =>
        sameRegion || place.population >= LARGE_CITY || km <= OTHER_REGION_MAX_KM,
    );
}

function findMunicipality(
  { municipality }: SourceAirport,
  around: readonly CityCandidate[],
): KnownPlace | undefined {
  const names = [
    municipality,
    ...citiesOfMunicipality(municipality),
    ...placesInBrackets(municipality),
  ];
  return bestNamed(names, around);
}

/** The city that the airport is named after, if it is larger than the municipality. */
function findNamesake(
  { name }: SourceAirport,
  municipality: KnownPlace | undefined,
  around: readonly CityCandidate[],
): KnownPlace | undefined {
  const population = municipality?.population ?? 0;
  const cities = around.filter(
    ({ place }) => place.population >= NAMESAKE && place.population > population,
  );
  const names = namesWithin(name);
  const first = bestNamed(
    names.filter((words) => name.startsWith(words)),
    cities.filter(({ km }) => km <= NAMED_FIRST_MAX_KM),
  );
  if (first !== undefined || population >= VILLAGE) return first;
  return bestNamed(
    names,
    cities.filter(({ km }) => km <= NAMESAKE_MAX_KM),
  );
}

/**
 * Finds the best place of the first name that any place has. Prefers places in the airport's
 * subdivision, then a place's own name to alternates, then the largest, then the nearest.
 */
function bestNamed(
  names: readonly string[],
  around: readonly CityCandidate[],
): KnownPlace | undefined {
  for (const key of names.map(spellingKey)) {
    const [best] = around
      .filter(({ place }) => place.name === key || place.alternates.has(key))
      .toSorted(
        (a, b) =>
          Number(b.sameRegion) - Number(a.sameRegion) ||
          Number(b.place.name === key) - Number(a.place.name === key) ||
          b.place.population - a.place.population ||
          a.km - b.km ||
          compareKeys(a, b),
      );
    if (best !== undefined) return best.place;
  }
  return undefined;
}

function compareKeys(a: CityCandidate, b: CityCandidate): number {
  return a.place.key < b.place.key ? -1 : 1;
}
