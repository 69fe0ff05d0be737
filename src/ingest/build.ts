import { foldText } from "../catalog/fold.ts";
import { airportId, compareIds, countryId, regionId } from "../catalog/ids.ts";
import { compareText } from "../catalog/integrity.ts";
import { distanceKm } from "../catalog/positions.ts";
import type { Airport, Catalog, City, Country, Region } from "../catalog/model.ts";
import type { SourceAirport } from "../catalog/source-airport.ts";
import type { ReferenceCountry, ReferenceRegion } from "../sources/reference.ts";
import type { ResolvedCities } from "./resolve-cities.ts";

export interface Built {
  readonly catalog: Catalog;
  /** Codes and names of subdivisions that come from upstream because the snapshot lacks them. */
  readonly new_regions: readonly string[];
  /** Codes of subdivisions that become no regions: neither the snapshot nor upstream names them. */
  readonly unnamed_regions: readonly string[];
}

export interface CatalogParts {
  readonly placed: PlacedAirports;
  readonly countries: readonly ReferenceCountry[];
  readonly regions: readonly ReferenceRegion[];
  /** English names of subdivisions by code, for those that the snapshot has no region for. */
  readonly regionNames: ReadonlyMap<string, string>;
}

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
    new_regions: regions.added,
    unnamed_regions: regions.unnamed,
  };
}

/** The catalog's airports and cities, and the indexes for its regions. */
interface PlacedAirports {
  /** In order of IATA codes. */
  readonly airports: readonly Airport[];
  readonly cities: readonly City[];
  /** IATA codes by upstream's ISO 3166-2 code. */
  readonly codesByRegion: ReadonlyMap<string, readonly string[]>;
  readonly codesByCountry: ReadonlyMap<string, readonly string[]>;
  /** IATA code by the number that an airport's id is made of. */
  readonly codeById: ReadonlyMap<string, string>;
}

/** Converts upstream's airports to the catalog's. Upstream's are not needed afterwards. */
export function placeAirports(
  airports: readonly SourceAirport[],
  { cities, cityIds }: ResolvedCities,
): PlacedAirports {
  return {
    airports: airports
      .map((airport, index) => toAirport(airport, cityIds[index]))
      .toSorted((a, b) => compareText(a.iata, b.iata)),
    cities,
    codesByRegion: codesBy(airports, ({ region }) => region),
    codesByCountry: codesBy(airports, ({ country }) => country),
    codeById: new Map(airports.map(({ id, iata }) => [id, iata])),
  };
}

function codesBy(
  airports: readonly SourceAirport[],
  keyOf: (airport: SourceAirport) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(airports, keyOf);
  return new Map([...groups].map(([key, group]) => [key, group.map(({ iata }) => iata)]));
}

function toAirport(airport: SourceAirport, cityId: Uint8Array | undefined): Airport {
  if (cityId === undefined) throw new Error(`airport ${airport.id} has no city`);
  return {
    id: airportId(airport.id),
    iata: airport.iata,
    icao: airport.icao,
    name: airport.name,
    lat: airport.lat,
    lon: airport.lon,
    cityId,
  };
}

/** Makes the regions: the snapshot's, then upstream's other subdivisions. A territory is one region. */
function resolveRegions({ placed, regionNames, regions: known }: CatalogParts): {
  regions: Region[];
  added: string[];
  unnamed: string[];
} {
  const slugs = new Set(known.map((region) => region.slug));
  const { codesOf, codesByRegion, newcomers, unplaced } = memberIndex(placed, known);
  const regions = known.map((region) => {
    const codes = [...region.members.flatMap(codesOf), ...(newcomers.get(region.key) ?? [])];
    return toRegion({ ...region, codes });
  });
  const isWithoutRegion = subdivisionsWithout(known);
  const added: string[] = [];
  const unnamed = [...unplaced];
  for (const [code, codes] of [...codesByRegion].toSorted(([a], [b]) => compareText(a, b))) {
    const name = regionNames.get(code);
    if (!isWithoutRegion(code)) continue;
    if (name === undefined) unnamed.push(code);
    if (name === undefined || isDummyName(name)) continue;
    const slug = freeSlug(name, code, slugs);
    slugs.add(slug);
    added.push(`${code} ${name}`);
    regions.push(toRegion({ key: `iso3166-2:${code}`, slug, name, codes }));
  }
  return {
    regions: regions
      .filter((region) => region.airportIataCodes.length > 0)
      .toSorted((a, b) => compareText(a.slug, b.slug)),
    added,
    unnamed,
  };
}

/** Returns whether the snapshot has no region for a subdivision, by upstream's code. */
export function subdivisionsWithout(known: readonly ReferenceRegion[]): (code: string) => boolean {
  const covered = new Set(known.flatMap(({ members }) => members));
  const territories = new Set(
    known.filter(({ key }) => key.startsWith("iso3166-1:")).map(({ key }) => key.slice(-2)),
  );
  return (code) => !covered.has(code) && !territories.has(code.slice(0, 2)) && isSubdivision(code);
}

/** Whether a code is a real one, not upstream's placeholder `XX-U-A`. */
function isSubdivision(code: string): boolean {
  return /^[A-Z]{2}-[A-Z0-9-]+$/.test(code) && code.slice(3) !== "U-A";
}

/** Whether a name is not that of a region, such as `*Offshore Platforms` or `(FPSOs)`. */
function isDummyName(name: string): boolean {
  return !/^\p{L}/u.test(name);
}

/**
 * Indexes IATA codes by a region's members: countries, subdivisions and airports. An airport that a
 * subdivision of the snapshot lists is removed from upstream's subdivision, which is dissolved or
 * wrong. Other airports of a dissolved subdivision make no region; their positions decide.
 */
function memberIndex(
  { airports, codeById, codesByCountry, codesByRegion: upstream }: PlacedAirports,
  known: readonly ReferenceRegion[],
): {
  readonly codesOf: (member: string) => readonly string[];
  readonly codesByRegion: PlacedAirports["codesByRegion"];
  /**
   * Airports in subdivisions that the snapshot divides differently, by the region of the nearest other
   * airport.
   */
  readonly newcomers: ReadonlyMap<string, readonly string[]>;
  /** Such subdivisions with airports that are far from any other. */
  readonly unplaced: ReadonlySet<string>;
} {
  /** Key of the subdivision that lists an airport, by IATA code. */
  const listed = new Map(
    known
      .filter(({ key }) => key.startsWith("iso3166-2:"))
      .flatMap(({ key, members }) =>
        members.flatMap((member) => {
          const code = codeById.get(member);
          return code === undefined ? [] : [[code, key] as const];
        }),
      ),
  );
  const isWithoutRegion = subdivisionsWithout(known);
  const places = new Map(airports.map((airport) => [airport.iata, airport]));
  const newcomers = new Map<string, string[]>();
  const unplaced = new Set<string>();
  const codesByRegion = new Map<string, readonly string[]>();
  for (const [region, codes] of upstream) {
    const ofRegion = codes.filter((code) => !listed.has(code));
    const others = codes.filter((code) => listed.has(code));
    if (ofRegion.length === 0) continue;
    if (others.length === 0 || !isWithoutRegion(region)) {
      codesByRegion.set(region, ofRegion);
      continue;
    }
    for (const code of ofRegion) {
      const near = nearestOf(code, others, places);
      const key = near && listed.get(near);
      if (key === undefined) unplaced.add(region);
      else newcomers.set(key, [...(newcomers.get(key) ?? []), code]);
    }
  }
  const codesOf = (member: string): readonly string[] => {
    const code = codeById.get(member);
    if (code !== undefined) return [code];
    return (member.includes("-") ? codesByRegion : codesByCountry).get(member) ?? [];
  };
  return { codesOf, codesByRegion, newcomers, unplaced };
}

/** Greatest distance of a new airport from the one in whose subdivision it is. */
const SAME_SUBDIVISION_KM = 30;

/** The nearest of some airports, if it is near enough to be in the same subdivision. */
function nearestOf(
  code: string,
  others: readonly string[],
  places: ReadonlyMap<string, Airport>,
): string | undefined {
  const here = places.get(code);
  const [nearest] = others
    .flatMap((other) => {
      const there = places.get(other);
      if (here === undefined || there === undefined) return [];
      return { other, km: distanceKm(here, there) };
    })
    .filter(({ km }) => km <= SAME_SUBDIVISION_KM)
    .toSorted((a, b) => a.km - b.km);
  return nearest?.other;
}

interface RegionParts extends Pick<Region, "key" | "slug" | "name"> {
  readonly codes: readonly string[];
}

function toRegion({ key, slug, name, codes }: RegionParts): Region {
  const airportIataCodes = [...new Set(codes)].toSorted(compareText);
  return { id: regionId(key), key, slug, name, airportIataCodes };
}

/** Finds a free slug: `occitanie-fr`, else `occitanie-occ-fr`, else one with a number as well. */
function freeSlug(name: string, code: string, taken: ReadonlySet<string>): string {
  const [country = "", ...subdivision] = code.toLowerCase().split("-");
  const base = foldText(name);
  const ending = foldText(subdivision.join("-"));
  const join = (...parts: string[]) => [...parts, country].filter((part) => part !== "").join("-");
  let slug = join(base || ending);
  if (taken.has(slug)) slug = join(base, ending);
  for (let number = 2; taken.has(slug); number++) slug = join(base, ending, String(number));
  return slug;
}
