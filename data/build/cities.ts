import { foldText, tidy } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import { CityNames, readCityNames, type Spellings } from "./city-names.ts";
import { readCurated } from "./curated.ts";
import type { Assignment, City, CityOrigin } from "./city.ts";
import { distanceKm } from "../../src/catalog/positions.ts";
import { type Gazetteer, type GeoPlace, nameKey, roundPopulation } from "./gazetteer.ts";
import {
  citiesOfMunicipality,
  NAMESAKE,
  NAMESAKE_MAX_KM,
  namesWithin,
  placeInAirportName,
  plainPlace,
  placesInBrackets,
  VILLAGE,
} from "../../src/sources/place-names.ts";
import { SyntheticCities } from "./synthetic-cities.ts";
import { compareCodeUnits, roundCoordinate } from "./text.ts";

const SERVED_CITY_MAX_KM = 75;
const MUNICIPALITY_MAX_KM = 50;
const AIRPORT_NAME_MAX_KM = 30;
const NEAREST_MAX_KM = 20;

/** A city farther than this needs more than its size to be an airport's. */
const METROPOLIS_MAX_KM = 40;
/** From this many inhabitants on, a municipality does not fall to a metropolis that far away. */
const LARGE_MUNICIPALITY = 100_000;

/** Every name that the resolution of these airports can ask the gazetteer for. */
export function wantedNames(
  airports: readonly AirportRow[],
  served: ReadonlyMap<number, string>,
): Set<string> {
  const wanted = new Set<string>();
  for (const airport of airports) {
    const names = [
      ...citiesOfMunicipality(airport.municipality),
      ...placesInBrackets(airport.municipality),
      ...namesWithin(airport.name),
      placeInAirportName(airport.name),
      served.get(airport.id) ?? "",
    ];
    for (const name of names) wanted.add(nameKey(airport.country, name));
  }
  return wanted;
}

interface Sources {
  readonly airports: readonly AirportRow[];
  readonly served: ReadonlyMap<number, string>;
  readonly gazetteer: Gazetteer;
  /** Upstream's subdivision of a place; empty if it is not known. */
  readonly regionOf: (place: GeoPlace) => string;
}

/** A city of GeoNames and the rule that found it. */
interface FoundPlace {
  readonly place: GeoPlace;
  readonly origin: CityOrigin;
}

/** The city of an airport: of GeoNames, or by the name of one that GeoNames does not have. */
type Found = FoundPlace | { readonly name: string };

/** Gives every airport its city, in the order of the airports. */
export function resolveCities(sources: Sources): Assignment[] {
  const overrides = readOverrides(sources);
  const known = sources.airports.map((airport) => ({
    airport,
    found:
      overrides.get(airport.iata) ?? findPlace(airport, sources) ?? syntheticName(airport, sources),
  }));
  const synthetic = new SyntheticCities();
  const names = new CityNames();
  for (const { airport, found } of known) {
    if ("place" in found) names.add(found.place, spellings(airport, found.place, sources));
    else synthetic.add(airport, found.name);
  }
  return correctNames(
    known.map(({ airport, found }): Assignment => {
      if ("place" in found)
        return {
          airport,
          city: toCity(found.place, names.name(found.place), sources.regionOf(found.place)),
          origin: found.origin,
        };
      return { airport, city: synthetic.city(airport), origin: "synthetic" };
    }),
  );
}

/** The assignments with the names that a person chose for their cities. */
function correctNames(assignments: readonly Assignment[]): Assignment[] {
  const names = readCityNames();
  const keys = new Set(assignments.map(({ city }) => city.key));
  for (const [key, name] of names)
    if (!keys.has(key))
      throw new Error(`city-names.csv: ${key} (${name}) is no city of an airport`);
  return assignments.map((assignment) => {
    const name = names.get(assignment.city.key) ?? assignment.city.name;
    return { ...assignment, city: { ...assignment.city, name } };
  });
}

/** How the sources write the city that was found: OurAirports' spelling first, then OpenTravelData's. */
function spellings(airport: AirportRow, place: GeoPlace, sources: Sources): Spellings {
  const find = (names: readonly string[]) =>
    names.find((name) => placesOf(airport, [name], SERVED_CITY_MAX_KM, sources)[0] === place);
  const { municipality } = airport;
  return {
    ourAirports: find([...citiesOfMunicipality(municipality), ...placesInBrackets(municipality)]),
    openTravelData: find([sources.served.get(airport.id) ?? ""]),
  };
}

function findPlace(airport: AirportRow, sources: Sources): FoundPlace | undefined {
  const found = findKnownPlace(airport, sources);
  if (
    found !== undefined &&
    (found.place.population >= VILLAGE || isAgreed(airport, found, sources))
  )
    return found;
  const namesake = placesOf(airport, namesWithin(airport.name), NAMESAKE_MAX_KM, sources)[0];
  if (namesake !== undefined && namesake.population >= NAMESAKE && namesake !== found?.place)
    return { place: namesake, origin: "airport_name" };
  return found;
}

/** Whether both sources name the place: then it is no village at the runway. */
function isAgreed(airport: AirportRow, { place }: FoundPlace, sources: Sources): boolean {
  const { ourAirports, openTravelData } = spellings(airport, place, sources);
  return ourAirports !== undefined && openTravelData !== undefined;
}

/** The city that a source names: the most populous of those within reach. */
function findKnownPlace(airport: AirportRow, sources: Sources): FoundPlace | undefined {
  const { served, gazetteer } = sources;
  const servedCity = served.get(airport.id);
  const [metropolis] = servedCity
    ? placesOf(airport, [servedCity], SERVED_CITY_MAX_KM, sources)
    : [];
  const municipality = [citiesOfMunicipality, placesInBrackets]
    .map((read) => read(airport.municipality))
    .map((names) => placesOf(airport, names, MUNICIPALITY_MAX_KM, sources)[0])
    .find((place) => place !== undefined);
  if (metropolis !== undefined && largest([metropolis, municipality]) === metropolis)
    return (
      nearerCity(airport, metropolis, municipality, sources) ?? {
        place: metropolis,
        origin: "served_city",
      }
    );
  if (municipality !== undefined) return { place: municipality, origin: "municipality" };
  if (foldText(airport.municipality) !== "" || servedCity !== undefined) return undefined;
  const place =
    placesOf(airport, [placeInAirportName(airport.name)], AIRPORT_NAME_MAX_KM, sources)[0] ??
    gazetteer.nearest({ country: airport.country, near: airport, maxKm: NEAREST_MAX_KM });
  return place && { place, origin: "nearest" };
}

/** What comes before a metropolis that is far away and that the airport is not named after. */
function nearerCity(
  airport: AirportRow,
  metropolis: GeoPlace,
  municipality: GeoPlace | undefined,
  sources: Sources,
): FoundPlace | undefined {
  if (distanceKm(metropolis, airport) <= METROPOLIS_MAX_KM) return undefined;
  if (isNamedFirst(airport, metropolis, municipality)) return undefined;
  if (municipality !== undefined && municipality.population >= LARGE_MUNICIPALITY)
    return { place: municipality, origin: "municipality" };
  const namesake = largest(
    placesOf(airport, namesWithin(airport.name), METROPOLIS_MAX_KM, sources),
  );
  if (namesake === undefined || namesake.population < NAMESAKE) return undefined;
  return { place: namesake, origin: "airport_name" };
}

/** Whether the airport's name has the metropolis in it, and before the municipality: `London Luton`. */
function isNamedFirst(
  airport: AirportRow,
  metropolis: GeoPlace,
  municipality: GeoPlace | undefined,
): boolean {
  const name = foldText(airport.name);
  const at = name.indexOf(foldText(metropolis.name));
  const other = municipality === undefined ? -1 : name.indexOf(foldText(municipality.name));
  return at !== -1 && (other === -1 || at < other);
}

/** The places of these names around the airport, in the order of the names. */
function placesOf(
  { country, lat, lon }: AirportRow,
  names: readonly string[],
  maxKm: number,
  { gazetteer }: Sources,
): GeoPlace[] {
  const near = { lat, lon };
  return names.flatMap((name) => gazetteer.named({ name, country, near, maxKm }) ?? []);
}

/**
 * What to call a city that GeoNames does not have where the airport is. The name of a city elsewhere
 * in the subdivision, or of a large one in the country, is only what the airport belongs to, unless
 * the airport has it too: Dongsha Island is governed from Kaohsiung, 430 km away.
 */
function syntheticName(airport: AirportRow, sources: Sources): FoundPlace | { name: string } {
  const { served, gazetteer, regionOf } = sources;
  const { country, region } = airport;
  const isElsewhere = (name: string) =>
    !hasName(airport, name) &&
    gazetteer
      .allNamed(country, name)
      .some((place) => place.population >= LARGE_MUNICIPALITY || regionOf(place) === region);
  const named = [citiesOfMunicipality(airport.municipality)[0], served.get(airport.id)];
  const own = placeInAirportName(airport.name) || tidy(airport.name);
  const name = named.find((one) => one !== undefined && one !== "" && !isElsewhere(one)) ?? own;
  const plain = plainPlace(name, airport.name);
  const [place] = placesOf(airport, [plain], MUNICIPALITY_MAX_KM, sources);
  return place === undefined ? { name: plain } : { place, origin: "municipality" };
}

function hasName({ name }: AirportRow, place: string): boolean {
  return `-${foldText(name)}-`.includes(`-${foldText(place)}-`);
}

/** The most populous place; of equal ones the first. */
function largest(places: readonly (GeoPlace | undefined)[]): GeoPlace | undefined {
  let best: GeoPlace | undefined;
  for (const place of places)
    if (place && place.population > (best?.population ?? -1)) best = place;
  return best;
}

/** A place of GeoNames as a city. */
export function toCity(place: GeoPlace, name: string, region: string): City {
  return {
    key: `geonames:${place.id}`,
    name,
    country: place.country,
    region,
    population: roundPopulation(place),
    lat: roundCoordinate(place.lat),
    lon: roundCoordinate(place.lon),
  };
}

/** Airports whose city lies in another country. */
export const ACROSS_A_BORDER: ReadonlySet<string> = new Set(["BSL"]);

/** The cities that a person chose, by IATA code. */
function readOverrides({ airports, gazetteer }: Sources): ReadonlyMap<string, Found> {
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const overrides = new Map<string, Found>();
  for (const { iata, geonames, name } of readCurated<"iata" | "geonames" | "name">(
    "airport-cities",
  )) {
    const refuse = (problem: string): never => {
      throw new Error(`airport-cities.csv: ${iata}: ${problem}`);
    };
    const airport = codes.get(iata) ?? refuse("there is no such airport");
    if (overrides.has(iata)) refuse("it is there twice");
    if (name !== "") {
      overrides.set(iata, geonames === "" ? { name } : refuse("a GeoNames place has its own name"));
      continue;
    }
    const place = gazetteer.place(Number(geonames)) ?? refuse(`GeoNames has no place ${geonames}`);
    if (airport.country !== place.country && !ACROSS_A_BORDER.has(iata))
      refuse(`${place.name} is in ${place.country}, the airport in ${airport.country}`);
    overrides.set(iata, { place, origin: "override" });
  }
  return overrides;
}

/** The cities of the assignments, each once, by key. */
export function distinctCities(assignments: readonly Assignment[]): City[] {
  const cities = new Map(assignments.map(({ city }) => [city.key, city]));
  return [...cities.values()].toSorted((a, b) => compareCodeUnits(a.key, b.key));
}
