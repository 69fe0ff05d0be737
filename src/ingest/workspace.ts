import { type EncodedPart, encodeLocal, type Form, localPieces } from "../catalog/encode.ts";
import { withDistinctSlugs } from "../catalog/distinct-slugs.ts";
import type { AirportSet } from "../catalog/manifest.ts";
import type { Region, RegionNames } from "../catalog/model.ts";
import {
  type AirportsRead,
  readAirports,
  readRegionNames,
  type Reject,
  type SourceAirport,
} from "../sources/our-airports.ts";
import {
  type OpenSnapshotFile,
  readCountries,
  readCityTables,
  readRegionNames as readLocaleNames,
  readRegions,
} from "../sources/reference.ts";
import { decodeFile, findFile, type Table } from "../sources/source-file.ts";
import { SourceError } from "../sources/source-error.ts";
import { buildCatalog, type Built, placeAirports, resolveCities } from "./build.ts";

/** Opens an archived upstream file by its name and SHA-256. */
export type OpenSource = (file: string, sha256: string) => Promise<ReadableStream<Uint8Array>>;

/** Names and regions of one locale. */
export interface LocalPart {
  readonly names: RegionNames;
  /** The encoded regions, whole. */
  readonly encode: () => EncodedPart;
  /** The encoded regions, piece by piece. */
  readonly pieces: (form: Form) => Iterable<Uint8Array>;
}

/** Makes the part of each locale. Holds the regions, and nothing else of a catalog. */
export type LocalParts = (locale: string) => Promise<LocalPart>;

/** A catalog built from archived upstream bytes, with what made it. */
export interface Workspace extends Built {
  readonly read: Omit<AirportsRead, "airports">;
  /** Rows of regions.csv that were not used. */
  readonly regionRejects: readonly Reject[];
  readonly local: LocalParts;
}

/**
 * Builds the catalog from archived bytes. Deterministic, so that a step which finds nothing in
 * memory (after an eviction or a crash) makes the same workspace again.
 *
 * @param sources SHA-256 (hex) of each archived file, by its name.
 * @param rules which airports it has; all that the contract allows if left out.
 * @throws SourceError when upstream bytes cannot be used.
 */
export async function createWorkspace(
  sources: { readonly [file: string]: string },
  openSource: OpenSource,
  openSnapshot: OpenSnapshotFile,
  airportSet?: AirportSet,
): Promise<Workspace> {
  const open = async (table: Table) => {
    const found = findFile(table, sources);
    if (found === undefined)
      throw new SourceError("missing_file", `upstream gave no file for ${table}`);
    return decodeFile(found.name, await openSource(found.name, found.file));
  };
  const countries = await readCountries(openSnapshot);
  const codes = new Set(countries.map(({ isoCode2 }) => isoCode2));
  const { placed, read } = await readPlaced(openSnapshot, async () =>
    readAirports(await open("airports.csv"), codes, airportSet),
  );
  const wanted = new Set(placed.codesByRegion.keys());
  const { names: regionNames, rejects: regionRejects } = await readRegionNames(
    await open("regions.csv"),
    wanted,
  );
  const built = buildCatalog({
    placed,
    countries,
    regions: await readRegions(openSnapshot),
    regionNames,
  });
  return { ...built, read, regionRejects, local: localParts(built.catalog.regions, openSnapshot) };
}

/** A function of its own, so that upstream's airports are not in memory any more with the catalog. */
async function readPlaced(openSnapshot: OpenSnapshotFile, readAll: () => Promise<AirportsRead>) {
  const { airports, ...read } = await readAll();
  return { placed: placeAirports(airports, await findCities(airports, openSnapshot)), read };
}

/** A function of its own, for the same of the tables. */
async function findCities(airports: readonly SourceAirport[], openSnapshot: OpenSnapshotFile) {
  return resolveCities(airports, await readCityTables(openSnapshot, airports));
}

function localParts(regions: readonly Region[], openSnapshot: OpenSnapshotFile): LocalParts {
  const slugs = new Map(regions.map((region) => [region.key, region.slug]));
  return async (locale) => {
    const known = await readLocaleNames(openSnapshot, locale, slugs);
    const names = withDistinctSlugs(regions, known);
    return {
      names,
      encode: () => encodeLocal(regions, names),
      pieces: (form) => localPieces(regions, names, form),
    };
  };
}
