import type { AcceptedAirport } from "../acceptance/airport.ts";
import { ACCEPTED_FILE, decodeAccepted } from "./ledger-files.ts";
import type { AirportSet } from "../parts/manifest.ts";
import type { Region, RegionNames } from "../catalog/model.ts";
import {
  type OpenSnapshotFile,
  readCountries,
  readRegionNames,
  readRegions,
  readSubdivisionNames,
} from "../sources/reference.ts";
import { readCityTables } from "../sources/city-tables.ts";
import { SourceError } from "../sources/source-error.ts";
import { localizedName } from "../catalog/integrity.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { buildCatalog, type Built, placeAirports } from "./build.ts";
import { resolveCities } from "./resolve-cities.ts";

type OpenSource = (file: string, sha256: Sha256Hex) => Promise<ReadableStream<Uint8Array>>;

/** A catalog built from archived upstream files, with an account of its inputs. */
export interface Workspace extends Built {
  /** Number of airports without scheduled service that the airport set excludes. */
  readonly unscheduled: number;
  /** Reads the regions' names in a locale, with distinct slugs. */
  readonly namesIn: (locale: string) => Promise<RegionNames>;
}

/**
 * Builds the catalog from archived files. Deterministic, so that a step in a new instance makes the
 * same workspace again.
 *
 * @param sources archived files by name, among them the accepted airports.
 * @param airportSet airports to publish; default: all that the contract allows.
 * @throws SourceError if a file is missing or unusable.
 */
export async function createWorkspace(
  sources: { readonly [file: string]: Sha256Hex },
  openSource: OpenSource,
  openSnapshot: OpenSnapshotFile,
  airportSet: AirportSet = "all",
): Promise<Workspace> {
  const accepted = sources[ACCEPTED_FILE];
  if (accepted === undefined)
    throw new SourceError("missing_file", "there is no file of accepted airports");
  const { airports, regions: waited } = await decodeAccepted(
    await openSource(ACCEPTED_FILE, accepted),
  );
  const published = airports.filter(({ scheduled }) => airportSet === "all" || scheduled);
  const placed = placeAirports(published, await findCities(published, openSnapshot));
  const names = await readSubdivisionNames(openSnapshot, new Set(placed.codesByRegion.keys()));
  const built = buildCatalog({
    placed,
    countries: await readCountries(openSnapshot),
    regions: await readRegions(openSnapshot),
    regionNames: new Map([...names, ...Object.entries(waited)]),
  });
  const { regions } = built.catalog;
  const slugs = new Map(regions.map(({ key, slug }) => [key, slug]));
  const namesIn = async (locale: string) =>
    withDistinctSlugs(regions, await readRegionNames(openSnapshot, locale, slugs));
  return {
    ...built,
    unscheduled: airports.length - published.length,
    namesIn,
  };
}

/**
 * Finds the cities by the accepted positions. A separate function, so that its tables are collected
 * before the build.
 */
async function findCities(accepted: readonly AcceptedAirport[], openSnapshot: OpenSnapshotFile) {
  const airports = accepted.map(({ anchor, ...airport }) => ({ ...airport, ...anchor }));
  return resolveCities(airports, await readCityTables(openSnapshot, airports));
}

/** Replaces a localized slug that two regions share by the base slug, which is unique. */
export function withDistinctSlugs(regions: readonly Region[], names: RegionNames): RegionNames {
  const distinct = new Map(names);
  for (;;) {
    const slugOf = (region: Region) => localizedName(region, distinct).slug;
    const bySlug = Map.groupBy(regions, slugOf);
    const clashing = [...bySlug.values()].filter(({ length }) => length > 1).flat();
    const shared = clashing.filter((region) => slugOf(region) !== region.slug);
    if (shared.length === 0) return distinct;
    for (const region of shared)
      distinct.set(region.key, { ...localizedName(region, distinct), slug: region.slug });
  }
}
