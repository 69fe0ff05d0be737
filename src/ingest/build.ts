import { foldText } from "../catalog/fold.ts";
import { airportId, cityId, compareIds, countryId, regionId } from "../catalog/ids.ts";
import { compareText } from "../catalog/integrity.ts";
import type { Airport, Catalog, City, Country, Region } from "../catalog/model.ts";
import { roundDegrees } from "../catalog/round-degrees.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import {
  type CityTables,
  placeKeyOf,
  type ReferenceCountry,
  type ReferenceRegion,
} from "../sources/reference.ts";

/** Source of an airport's city. */
type CityOrigin = "known_airport" | "known_place" | "synthetic";

export interface Built {
  readonly catalog: Catalog;
  /** Number of airports by the source of their city. */
  readonly city_origins: { readonly [O in CityOrigin]: number };
  /** Codes of the subdivisions that come from upstream because the snapshot lacks them. */
  readonly new_regions: readonly string[];
}

/** The inputs of a catalog. */
export interface CatalogParts {
  readonly placed: PlacedAirports;
  readonly countries: readonly ReferenceCountry[];
  /** The regions of the snapshot. */
  readonly regions: readonly ReferenceRegion[];
  /** Upstream's English names of subdivisions by code, for those that the snapshot lacks. */
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

/** The catalog's airports and cities, and the indexes for its regions. */
interface PlacedAirports {
  /** In order of IATA codes. */
  readonly airports: readonly Airport[];
  readonly cities: readonly City[];
  readonly city_origins: Built["city_origins"];
  /** IATA codes by upstream's ISO 3166-2 code. */
  readonly codesByRegion: ReadonlyMap<string, readonly string[]>;
  /** IATA codes by ISO 3166-1 alpha-2 code. */
  readonly codesByCountry: ReadonlyMap<string, readonly string[]>;
}

/** Converts upstream's airports to the catalog's. Nothing needs upstream's airports afterwards. */
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

interface ResolvedCities {
  /** In order of ids. */
  readonly cities: readonly City[];
  /** Id of each airport's city, parallel to the airports. */
  readonly cityIds: readonly Uint8Array[];
  readonly origins: { readonly [O in CityOrigin]: number };
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
  const origins = { known_airport: 0, known_place: 0, synthetic: 0 };
  /** Airports of cities that no table has, by the city's key. */
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

/** Makes a city from its airports: the municipality's name, at their mean position. */
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
 * Indexes IATA codes by a region's members: countries, subdivisions and airports. If a subdivision
 * of the snapshot lists an airport, the index removes it from upstream's subdivision, which is
 * dissolved or wrong.
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
 * Finds a free slug: `occitanie-fr`, else with the subdivision's code (`occitanie-occ-fr`), else
 * with a number as well.
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
