import { type EncodedPart, encodeCommon, encodeLocal } from "../catalog/encode.ts";
import type { Catalog, RegionNames } from "../catalog/model.ts";
import { type AirportsRead, readAirports, readRegionNames } from "../sources/our-airports.ts";
import {
  type OpenSnapshotFile,
  readReference,
  readRegionNames as readLocaleNames,
} from "../sources/reference.ts";
import { gunzip } from "../sources/snapshot.ts";
import { buildCatalog, type Built } from "./build.ts";

/** Opens an archived upstream file by its name and SHA-256. */
export type OpenSource = (file: string, sha256: string) => Promise<ReadableStream<Uint8Array>>;

/** A catalog built from archived upstream bytes, with what made it. */
export interface Workspace extends Built {
  readonly read: AirportsRead;
  readonly common: EncodedPart;
  /** Names and encoded regions of one locale. */
  local(locale: string): Promise<{ names: RegionNames; encoded: EncodedPart }>;
}

/** Names under which upstream files are archived. */
export const AIRPORTS_FILE = "airports.csv.gz";
export const REGIONS_FILE = "regions.csv.gz";

/**
 * Builds the catalog from archived bytes. Deterministic, so that a step which finds nothing in
 * memory (after an eviction or a crash) makes the same workspace again.
 *
 * @throws SourceError when upstream bytes cannot be used.
 */
export async function createWorkspace(
  sources: { readonly [file: string]: string },
  openSource: OpenSource,
  openSnapshot: OpenSnapshotFile,
): Promise<Workspace> {
  const open = async (file: string) => gunzip(await openSource(file, sources[file] ?? ""));
  const reference = await readReference(openSnapshot);
  const countries = new Set(reference.countries.map((country) => country.isoCode2));
  const read = await readAirports(await open(AIRPORTS_FILE), countries);
  const names = await readRegionNames(await open(REGIONS_FILE));
  const built = buildCatalog(read.airports, names, reference);
  const slugs = slugsByKey(built.catalog);
  return {
    ...built,
    read,
    common: encodeCommon(built.catalog),
    async local(locale) {
      const localNames = await readLocaleNames(openSnapshot, locale, slugs);
      return { names: localNames, encoded: encodeLocal(built.catalog.regions, localNames) };
    },
  };
}

function slugsByKey(catalog: Catalog): ReadonlyMap<string, string> {
  return new Map(catalog.regions.map((region) => [region.key, region.slug]));
}
