import { otherNames, rankPlaces } from "../../web/build/search-files.ts";
import type { LocationsResponse } from "../../gen/locations/v1/locations_pb.ts";
import { type Catalog, type Place, packCatalog, unpackCatalog } from "../../client/src/catalog.ts";
import { countryNames } from "../../client/src/search/country-names.ts";
import { readRanks } from "../../client/src/search/ranks.ts";
import { search } from "../../client/src/search/search.ts";
import {
  addOtherNames,
  createSearchIndex,
  listPlaces,
} from "../../client/src/search/search-index.ts";
import { snapshotResponse } from "./snapshot-response.ts";

const NAMES = otherNames();
const RANKS = readRanks(rankPlaces());

/** A place that was found. */
interface FoundPlace {
  readonly place: Place;
  readonly isUnderCity: boolean;
  readonly isPartial: boolean;
}

interface Finder {
  readonly catalog: Catalog;
  readonly find: (typed: string) => FoundPlace[];
}

let inSnapshot: Promise<Finder> | undefined;

/** Searches the snapshot in English; made once for the tests of a process. */
export function snapshotFinder(): Promise<Finder> {
  return (inSnapshot ??= finderOf(snapshotResponse(), "en"));
}

/** Searches an answer whose names are in a locale, with all files that the page loads. */
export async function catalogFinder(
  answer: LocationsResponse,
  locale = "en",
): Promise<Finder["find"]> {
  return (await finderOf(answer, locale)).find;
}

async function finderOf(answer: LocationsResponse, locale: string): Promise<Finder> {
  const catalog = await unpackCatalog(packCatalog(answer, RANKS));
  const inLocale = new Intl.DisplayNames([locale], { type: "region" });
  const countryName = ({ code }: { readonly code: string }) => inLocale.of(code) ?? code;
  const index = createSearchIndex(catalog, countryName);
  addOtherNames(index, { names: NAMES, countryNames });
  const places = listPlaces(catalog);
  const find = (typed: string) =>
    search(index, typed).map(({ position, ...how }) => {
      const place = places[position];
      if (place === undefined) throw new Error(`no place ${position}`);
      return { place, ...how };
    });
  return { catalog, find };
}
