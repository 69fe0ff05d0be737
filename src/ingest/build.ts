import { foldText } from "../catalog/fold.ts";
import { airportId, cityId, compareIds, countryId, regionId } from "../catalog/ids.ts";
import { compareText } from "../catalog/integrity.ts";
import type { Airport, Catalog, City, Country, Region } from "../catalog/model.ts";
import { roundDegrees, type SourceAirport } from "../sources/our-airports.ts";
import {
  type CityTables,
  placeKeyOf,
  type ReferenceCountry,
  type ReferenceRegion,
} from "../sources/reference.ts";

/** How an airport's city was found. */
export type CityOrigin = "known_airport" | "known_place" | "synthetic";

export interface Built {
  readonly catalog: Catalog;
  /** Airports by the way in which their city was found. */
  readonly city_origins: { readonly [O in CityOrigin]: number };
  /** Subdivisions that the snapshot does not know, taken from upstream. */
  readonly new_regions: readonly string[];
}

/** What a catalog is built from. */
export interface CatalogParts {
  readonly placed: PlacedAirports;
  readonly countries: readonly ReferenceCountry[];
  /** Those that the snapshot knows. */
  readonly regions: readonly ReferenceRegion[];
  /** English names of subdivisions by code, for those that the snapshot lacks. */
  readonly regionNames: ReadonlyMap<string, string>;
}

/**
 * Builds the catalog from upstream's airports and the snapshot's tables. The same inputs give the
 * same catalog, in the same order. Pure: no clock, no I/O.
 */
export function buildCatalog(parts: CatalogParts): Built {
  const { placed, countries } = parts;
  const regions = resolveRegions(parts);
  return {
    catalog: {
      airports: placed.airports,
      cities: placed.cities,
      countries: countries
        .map((country): Country => ({ id: countryId(country.isoCode2), ...country }))
        .toSorted((a, b) => compareIds(a.id, b.id)),
      regions: regions.regions,
    },
    city_origins: placed.city_origins,
    new_regions: regions.added,
  };
}

/** Airports as the catalog has them, with all that it takes from upstream's. */
export interface PlacedAirports {
  /** In order of their IATA codes. */
  readonly airports: readonly Airport[];
  readonly cities: readonly City[];
  readonly city_origins: Built["city_origins"];
  /** IATA codes by upstream's ISO 3166-2 code. */
  readonly codesByRegion: ReadonlyMap<string, readonly string[]>;
  /** IATA codes by ISO 3166-1 alpha-2 code. */
  readonly codesByCountry: ReadonlyMap<string, readonly string[]>;
}

/** Makes the catalog's airports of upstream's, which are not needed any more afterwards. */
export function placeAirports(
  airports: readonly SourceAirport[],
  { cities, cityIds, origins }: ResolvedCities,
): PlacedAirports {
  return {
    airports: airports
      .map((airport, index) => toAirport(airport, cityIds[index]))
      .toSorted((a, b) => compareText(a.iata, b.iata)),
    cities,
    city_origins: origins,
    codesByRegion: codesBy(airports, ({ region }) => region),
    codesByCountry: codesBy(airports, ({ country }) => country),
  };
}

function codesBy(
  airports: readonly SourceAirport[],
  keyOf: (airport: SourceAirport) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(airports, keyOf);
  return new Map([...groups].map(([key, group]) => [key, group.map(({ iata }) => iata)]));
}

function toAirport(airport: SourceAirport, itsCityId: Uint8Array | undefined): Airport {
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

/** The cities of airports. */
export interface ResolvedCities {
  /** In order of their ids. */
  readonly cities: readonly City[];
  /** Id of each airport's city, in the order of the airports. */
  readonly cityIds: readonly Uint8Array[];
  readonly origins: { readonly [O in CityOrigin]: number };
}

/**
 * Finds the city of each airport, and makes those that no table knows. Pure: no clock, no I/O.
 *
 * @param tables what the snapshot knows of these airports.
 */
export function resolveCities(
  airports: readonly SourceAirport[],
  tables: CityTables,
): ResolvedCities {
  const origins = { known_airport: 0, known_place: 0, synthetic: 0 };
  /** Airports of cities that no table knows, by the city's key. */
  const unknown = new Map<string, SourceAirport[]>();
  const keys = airports.map((airport) => {
    const { key, origin } = cityKeyOf(airport, tables);
    origins[origin]++;
    if (tables.cities.has(key)) return key;
    const others = unknown.get(key);
    if (others === undefined) unknown.set(key, [airport]);
    else others.push(airport);
    return key;
  });
  const made = new Map([...unknown].map(([key, its]) => [key, syntheticCity(key, its)]));
  const cities = keys.map((key, index) => {
    const itsCity = tables.cities.get(key) ?? made.get(key);
    if (itsCity === undefined) throw new Error(`airport ${airports[index]?.id} has no city`);
    return itsCity;
  });
  return {
    cities: [...new Set(cities)].toSorted((a, b) => compareIds(a.id, b.id)),
    cityIds: cities.map(({ id }) => id),
    origins,
  };
}

function cityKeyOf(
  airport: SourceAirport,
  tables: CityTables,
): { key: string; origin: CityOrigin } {
  const byAirport = tables.cityOfAirport.get(airport.id);
  if (byAirport !== undefined) return { key: byAirport, origin: "known_airport" };
  const byPlace = tables.cityOfPlace.get(placeKeyOf(airport));
  if (byPlace !== undefined) return { key: byPlace, origin: "known_place" };
  const folded = foldText(airport.municipality) || foldText(airport.name);
  const place = folded === "" ? `airport-${airport.id}` : folded;
  return { key: `ourairports:${airport.region}:${place}`, origin: "synthetic" };
}

/** A city that no table knows: named by its airports' municipality, in the middle of them. */
function syntheticCity(key: string, airports: readonly SourceAirport[]): City {
  const ordered = airports.toSorted((a, b) => Number(a.id) - Number(b.id));
  const mean = (of: (airport: SourceAirport) => number) =>
    roundDegrees(ordered.reduce((sum, airport) => sum + of(airport), 0) / ordered.length);
  const first = ordered[0];
  if (first === undefined) throw new Error("a city without airports");
  return {
    id: cityId(key),
    name: first.municipality || first.name,
    countryId: countryId(first.country),
    lat: mean((airport) => airport.lat),
    lon: mean((airport) => airport.lon),
  };
}

function resolveRegions({ placed, regionNames, regions: known }: CatalogParts): {
  regions: Region[];
  added: string[];
} {
  const slugs = new Set(known.map((region) => region.slug));
  const { codesOf, codesByRegion } = memberIndex(placed, known);
  const regions = known.map((region) =>
    toRegion({ ...region, codes: region.members.flatMap(codesOf) }),
  );
  const covered = new Set(known.flatMap((region) => region.members));
  const added: string[] = [];
  for (const [code, codes] of [...codesByRegion].toSorted(([a], [b]) => compareText(a, b))) {
    const name = regionNames.get(code);
    if (covered.has(code) || name === undefined || !/^[A-Z]{2}-(?!U-A$)[A-Z0-9-]+$/.test(code))
      continue;
    const slug = freeSlug(name, code, slugs);
    slugs.add(slug);
    added.push(code);
    regions.push(toRegion({ key: `iso3166-2:${code}`, slug, name, codes }));
  }
  return {
    regions: regions
      .filter((region) => region.airportIataCodes.length > 0)
      .toSorted((a, b) => compareText(a.slug, b.slug)),
    added,
  };
}

/**
 * IATA codes by a region's member: a country, a subdivision or an airport. An airport that a
 * subdivision lists is left out of the one that upstream has it in, which is dissolved or wrong.
 */
function memberIndex(
  { airports, codesByCountry, codesByRegion: upstream }: PlacedAirports,
  known: readonly ReferenceRegion[],
): {
  readonly codesOf: (member: string) => readonly string[];
  readonly codesByRegion: PlacedAirports["codesByRegion"];
} {
  const listed = new Set(
    known.filter(({ key }) => key.startsWith("iso3166-2:")).flatMap(({ members }) => members),
  );
  const codesByRegion = new Map<string, readonly string[]>();
  for (const [region, codes] of upstream) {
    const its = codes.filter((code) => !listed.has(code));
    if (its.length > 0) codesByRegion.set(region, its);
  }
  const iataCodes = new Set(airports.map(({ iata }) => iata));
  const codesOf = (member: string): readonly string[] => {
    if (iataCodes.has(member)) return [member];
    return (member.includes("-") ? codesByRegion : codesByCountry).get(member) ?? [];
  };
  return { codesOf, codesByRegion };
}

interface RegionParts extends Pick<Region, "key" | "slug" | "name"> {
  readonly codes: readonly string[];
}

function toRegion({ key, slug, name, codes }: RegionParts): Region {
  const airportIataCodes = [...new Set(codes)].toSorted(compareText);
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
