import type { Assignment } from "./city.ts";
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
  readonly counts: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
  readonly locales: readonly {
    readonly locale: string;
    readonly coverage: number;
    readonly names: number;
    readonly default: boolean;
  }[];
  readonly sources: readonly Source[];
}

/** All that the tables are made from. */
export interface World {
  readonly assignments: readonly Assignment[];
  readonly countries: readonly Country[];
  readonly regions: readonly CatalogRegion[];
  readonly locales: readonly LocaleNames[];
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** The manifest of a world whose files are written. */
export function makeManifest(world: World, files: Readonly<Record<string, FileEntry>>): Manifest {
  const cities = distinctCities(world.assignments);
  const macroRegions = world.regions.filter((region) => !isSubdivision(region.key)).length;
  return {
    format: 1,
    snapshot: snapshotHash(files),
    files,
    counts: {
      airports: world.assignments.length,
      cities: cities.length,
      countries: world.countries.length,
      regions: world.regions.length,
      macro_regions: macroRegions,
      subdivisions: world.regions.length - macroRegions,
      cities_by_source: countBy(cities.map((city) => city.key.split(":")[0] ?? "")),
      cities_by_origin: countBy(world.assignments.map((assignment) => assignment.origin)),
    },
    locales: world.locales.map(({ locale, coverage, names, isDefault }) => ({
      locale,
      coverage,
      names: names.length,
      default: isDefault,
    })),
    sources: readSources(),
  };
}
