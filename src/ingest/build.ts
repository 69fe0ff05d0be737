import { foldText } from "../catalog/fold.ts";
import { airportId, cityId, compareIds, countryId, regionId } from "../catalog/ids.ts";
import { compareText } from "../catalog/integrity.ts";
import type { Airport, Catalog, City, Country, Region } from "../catalog/model.ts";
import { roundDegrees, type SourceAirport } from "../sources/our-airports.ts";
import { placeKeyOf, type Reference, type ReferenceCity } from "../sources/reference.ts";

/** How an airport's city was found. */
export type CityOrigin = "known_airport" | "known_place" | "synthetic";

export interface Built {
  readonly catalog: Catalog;
  /** Airports by the way in which their city was found. */
  readonly cityOrigins: { readonly [O in CityOrigin]: number };
  /** Subdivisions that the snapshot does not know, taken from upstream. */
  readonly newRegions: readonly string[];
}

/**
 * Builds the catalog from upstream's airports and the snapshot's tables. The same inputs give the
 * same catalog, in the same order. Pure: no clock, no I/O.
 *
 * @param regionNames English names of subdivisions by code, for those that the snapshot lacks.
 */
export function buildCatalog(
  airports: readonly SourceAirport[],
  regionNames: ReadonlyMap<string, string>,
  reference: Reference,
): Built {
  const cities = resolveCities(airports, reference);
  const regions = resolveRegions(airports, regionNames, reference);
  return {
    catalog: {
      airports: airports
        .map((airport) => toAirport(airport, cities.idOf))
        .toSorted((a, b) => compareText(a.iata, b.iata)),
      cities: cities.cities,
      countries: reference.countries
        .map((country): Country => ({ id: countryId(country.isoCode2), ...country }))
        .toSorted((a, b) => compareIds(a.id, b.id)),
      regions: regions.regions,
    },
    cityOrigins: cities.origins,
    newRegions: regions.added,
  };
}

function toAirport(airport: SourceAirport, cityIds: ReadonlyMap<string, Uint8Array>): Airport {
  const itsCityId = cityIds.get(airport.id);
  if (itsCityId === undefined) throw new Error(`airport ${airport.id} has no city`);
  return {
    id: airportId(airport.id),
    iata: airport.iata,
    icao: airport.icao,
    name: airport.name,
    lat: airport.lat,
    lon: airport.lon,
    cityId: itsCityId,
  };
}

interface ResolvedCities {
  readonly cities: readonly City[];
  /** City id by OurAirports id. */
  readonly idOf: ReadonlyMap<string, Uint8Array>;
  readonly origins: { readonly [O in CityOrigin]: number };
}

function resolveCities(airports: readonly SourceAirport[], reference: Reference): ResolvedCities {
  const idOf = new Map<string, Uint8Array>();
  const origins = { known_airport: 0, known_place: 0, synthetic: 0 };
  const cities = new Map<string, City>();
  /** Airports of cities that no table knows, by the city's key. */
  const unknown = new Map<string, SourceAirport[]>();
  const toCity = cityMaker();
  for (const airport of airports) {
    const { key, origin } = cityKeyOf(airport, reference);
    origins[origin]++;
    const known = reference.cities.get(key);
    if (known === undefined) {
      unknown.set(key, [...(unknown.get(key) ?? []), airport]);
      continue;
    }
    const itsCity = cities.get(key) ?? toCity(key, known);
    cities.set(key, itsCity);
    idOf.set(airport.id, itsCity.id);
  }
  for (const [key, itsAirports] of unknown) {
    const itsCity = toCity(key, syntheticCity(itsAirports));
    cities.set(key, itsCity);
    for (const { id } of itsAirports) idOf.set(id, itsCity.id);
  }
  const ordered = [...cities.values()].toSorted((a, b) => compareIds(a.id, b.id));
  return { cities: ordered, idOf, origins };
}

/** Makes cities, with one id for all that are in a country. */
function cityMaker(): (key: string, known: ReferenceCity) => City {
  const countryIds = new Map<string, Uint8Array>();
  return (key, { name, country, lat, lon }) => {
    const itsCountryId = countryIds.get(country) ?? countryId(country);
    countryIds.set(country, itsCountryId);
    return { id: cityId(key), name, countryId: itsCountryId, lat, lon };
  };
}

function cityKeyOf(
  airport: SourceAirport,
  reference: Reference,
): { key: string; origin: CityOrigin } {
  const byAirport = reference.cityOfAirport.get(airport.id);
  if (byAirport !== undefined) return { key: byAirport, origin: "known_airport" };
  const byPlace = reference.cityOfPlace.get(placeKeyOf(airport));
  if (byPlace !== undefined) return { key: byPlace, origin: "known_place" };
  const folded = foldText(airport.municipality) || foldText(airport.name);
  const place = folded === "" ? `airport-${airport.id}` : folded;
  return { key: `ourairports:${airport.region}:${place}`, origin: "synthetic" };
}

/** A city that no table knows: named by its airports' municipality, in the middle of them. */
function syntheticCity(airports: readonly SourceAirport[]) {
  const ordered = airports.toSorted((a, b) => Number(a.id) - Number(b.id));
  const mean = (of: (airport: SourceAirport) => number) =>
    roundDegrees(ordered.reduce((sum, airport) => sum + of(airport), 0) / ordered.length);
  const first = ordered[0];
  if (first === undefined) throw new Error("a city without airports");
  return {
    name: first.municipality || first.name,
    country: first.country,
    lat: mean((airport) => airport.lat),
    lon: mean((airport) => airport.lon),
  };
}

function resolveRegions(
  airports: readonly SourceAirport[],
  regionNames: ReadonlyMap<string, string>,
  reference: Reference,
): { regions: Region[]; added: string[] } {
  const byCode = Map.groupBy(airports, (airport) => airport.region);
  const byCountry = Map.groupBy(airports, (airport) => airport.country);
  const slugs = new Set(reference.regions.map((region) => region.slug));
  const regions = reference.regions.map(({ key, slug, name, members }) => {
    const index = key.startsWith("m49:") ? byCountry : byCode;
    return toRegion(
      key,
      slug,
      name,
      members.flatMap((member) => index.get(member) ?? []),
    );
  });
  const known = new Set(reference.regions.flatMap((region) => region.members));
  const added: string[] = [];
  for (const code of [...byCode.keys()].toSorted(compareText)) {
    const name = regionNames.get(code);
    if (known.has(code) || name === undefined || !/^[A-Z]{2}-(?!U-A$)[A-Z0-9-]+$/.test(code))
      continue;
    const slug = freeSlug(name, code, slugs);
    slugs.add(slug);
    added.push(code);
    regions.push(toRegion(`iso3166-2:${code}`, slug, name, byCode.get(code) ?? []));
  }
  return {
    regions: regions
      .filter((region) => region.airportIataCodes.length > 0)
      .toSorted((a, b) => compareText(a.slug, b.slug)),
    added,
  };
}

function toRegion(
  key: string,
  slug: string,
  name: string,
  airports: readonly SourceAirport[],
): Region {
  const airportIataCodes = airports.map((airport) => airport.iata).toSorted(compareText);
  return { id: regionId(key), key, slug, name, airportIataCodes };
}

/**
 * `occitanie-fr`; if that is taken, with the subdivision's own code: `occitanie-occ-fr`; if that is
 * taken too, with a number.
 */
function freeSlug(name: string, code: string, taken: ReadonlySet<string>): string {
  const [country = "", ...subdivision] = code.toLowerCase().split("-");
  const base = foldText(name);
  const own = foldText(subdivision.join("-"));
  const join = (...parts: string[]) => [...parts, country].filter((part) => part !== "").join("-");
  let slug = join(base || own);
  if (taken.has(slug)) slug = join(base, own);
  for (let number = 2; taken.has(slug); number++) slug = join(base, own, String(number));
  return slug;
}
