import type { Correction } from "./airport-corrections.ts";
import type { AirportRow } from "./airports.ts";
import type { Assignment, City } from "./city.ts";
import { distinctCities } from "./cities.ts";
import type { Country } from "./countries.ts";
import type { LocaleNames } from "./names.ts";
import { type CatalogRegion, isSubdivision } from "./catalog-region.ts";
import { readSources, type Source } from "./sources.ts";
import { type FileEntry, snapshotHash } from "./write.ts";

/** `manifest.json` of the snapshot. */
export interface Manifest {
  readonly format: 1;
  readonly snapshot: string;
  readonly files: Readonly<Record<string, FileEntry>>;
  readonly counts: Counts;
  readonly locales: readonly {
    readonly locale: string;
    readonly coverage: number;
    readonly scheduled_coverage: number;
    readonly names: number;
  }[];
  readonly sources: readonly Source[];
}

/** How many there are of what. */
export interface Counts {
  readonly airports: number;
  /** Of the airports, those with scheduled service. */
  readonly scheduled: number;
  /** Of the airports, those with an ICAO code. */
  readonly icao: number;
  readonly cities: number;
  readonly countries: number;
  readonly regions: number;
  readonly macro_regions: number;
  readonly subdivisions: number;
  readonly travel_regions: number;
  /** Of subdivisions that have no airport; they are in no other count. */
  readonly spare_regions: number;
  readonly cities_by_source: Readonly<Record<string, number>>;
  readonly cities_by_origin: Readonly<Record<string, number>>;
}

/** All that the tables are made from. */
export interface World {
  readonly assignments: readonly Assignment[];
  readonly corrections: readonly Correction[];
  /** Places that an airport may get as its city one day. */
  readonly spareCities: readonly City[];
  readonly countries: readonly Country[];
  readonly regions: readonly CatalogRegion[];
  /** Subdivisions that no airport is in yet. */
  readonly spareRegions: readonly CatalogRegion[];
  readonly locales: readonly LocaleNames[];
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

const ICAO_CODE = /^[A-Z]{4}$/u;

/** Whether the service finds an ICAO code in an airport's row. */
function hasIcao({ icao, gps }: AirportRow): boolean {
  return ICAO_CODE.test(icao) || ICAO_CODE.test(gps);
}

/** Counts what a world has. */
export function countWorld(world: World): Counts {
  const cities = distinctCities(world.assignments);
  const keys = world.regions.map(({ key }) => key);
  const macroRegions = keys.filter((key) => key.startsWith("m49:")).length;
  const subdivisions = keys.filter(isSubdivision).length;
  return {
    airports: world.assignments.length,
    scheduled: world.assignments.filter(({ airport }) => airport.scheduledService === "yes").length,
    icao: world.assignments.filter(({ airport }) => hasIcao(airport)).length,
    cities: cities.length,
    countries: world.countries.length,
    regions: world.regions.length,
    macro_regions: macroRegions,
    subdivisions,
    travel_regions: keys.length - macroRegions - subdivisions,
    spare_regions: world.spareRegions.length,
    cities_by_source: countBy(cities.map((city) => city.key.split(":")[0] ?? "")),
    cities_by_origin: countBy(world.assignments.map((assignment) => assignment.origin)),
  };
}

/** The manifest of a world whose files are written. */
export function makeManifest(world: World, files: Readonly<Record<string, FileEntry>>): Manifest {
  return {
    format: 1,
    snapshot: snapshotHash(files),
    files,
    counts: countWorld(world),
    locales: world.locales.map(({ locale, coverage, scheduledCoverage, names }) => ({
      locale,
      coverage,
      scheduled_coverage: scheduledCoverage,
      names: names.length,
    })),
    sources: readSources(),
  };
}
