import { type EncodedPart, encodeCommon, encodeLocal } from "../catalog/encode.ts";
import type { Catalog, RegionNames } from "../catalog/model.ts";
import { type AirportsRead, readAirports, readRegionNames } from "../sources/our-airports.ts";
import {
  type OpenSnapshotFile,
  readReference,
  readRegionNames as readLocaleNames,
} from "../sources/reference.ts";
import { decodeFile, findFile, type Table } from "../sources/source-file.ts";
import { SourceError } from "../sources/source-error.ts";
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
  const open = async (table: Table) => {
    const found = findFile(table, sources);
    if (found === undefined)
      throw new SourceError("missing_file", `upstream gave no file for ${table}`);
    return decodeFile(found.name, await openSource(found.name, found.file));
  };
  const reference = await readReference(openSnapshot);
  const countries = new Set(reference.countries.map((country) => country.isoCode2));
  const read = await readAirports(await open("airports.csv"), countries);
  const names = await readRegionNames(await open("regions.csv"));
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
