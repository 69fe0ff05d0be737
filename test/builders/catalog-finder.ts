import { otherNames, rankPlaces } from "../../web/build/search-files.ts";
import type { LocationsResponse } from "../../gen/locations/v1/locations_pb.ts";
import { type Place, packCatalog, unpackCatalog } from "../../client/src/catalog.ts";
import { countryNames } from "../../client/src/search/country-names.ts";
import { readRanks } from "../../client/src/search/ranks.ts";
import { search } from "../../client/src/search/search.ts";
import {
  addOtherNames,
  createSearchIndex,
  listPlaces,
} from "../../client/src/search/search-index.ts";

const NAMES = otherNames();
const RANKS = readRanks(rankPlaces());

/** A place that was found. */
export interface FoundPlace {
  readonly place: Place;
  readonly isUnderCity: boolean;
  readonly isPartial: boolean;
}

/** Searches an answer whose names are in a locale, with all files that the page loads. */
export async function catalogFinder(
  answer: LocationsResponse,
  locale = "en",
): Promise<(typed: string) => FoundPlace[]> {
  const catalog = await unpackCatalog(packCatalog(answer, RANKS));
  const inLocale = new Intl.DisplayNames([locale], { type: "region" });
  const countryName = ({ code }: { readonly code: string }) => inLocale.of(code) ?? code;
  const index = createSearchIndex(catalog, countryName);
  addOtherNames(index, { names: NAMES, countryNames });
  const places = listPlaces(catalog);
  return (typed) =>
    search(index, typed).map(({ position, ...how }) => {
      const place = places[position];
      if (place === undefined) throw new Error(`no place ${position}`);
      return { place, ...how };
    });
}
