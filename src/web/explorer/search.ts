import type { CatalogIndex, Place } from "./catalog-index.ts";
import { foldText } from "./fold.ts";

/** Most listed results. */
export const SEARCH_LIMIT = 40;

interface Entry {
  readonly place: Place;
  /** Folded codes. They match only as a whole or by their beginning. */
  readonly codes: readonly string[];
  /** Folded names. */
  readonly names: readonly string[];
  /** Breaks ties: places with more airports first. */
  readonly weight: number;
}

/** The folded search index of one answer. */
export type SearchIndex = readonly Entry[];

/** Rank of a match: lower is better. */
const RANK = { code: 0, name: 1, namePrefix: 2, wordPrefix: 3, codePrefix: 4, inside: 5 } as const;

/** Folds all names and codes of the catalog. */
export function createSearchIndex(catalog: CatalogIndex): SearchIndex {
  const entry = (place: Place, codes: readonly string[], names: readonly string[]): Entry => ({
    place,
    codes: codes.filter((code) => code !== "").map(foldText),
    names: [...new Set(names.map(foldText))],
    weight: place.kind === "airport" ? 0 : place.airports.length,
  });
  return [
    ...catalog.regions.map((place) =>
      entry(place, [], [place.region.name, place.region.nameLocalized, place.region.slugLocalized]),
    ),
    ...catalog.countries.map((place) => {
      const { isoCode2, isoCode3, nameEng, nameNative } = place.country;
      return entry(place, [isoCode2, isoCode3], [nameEng, nameNative]);
    }),
    ...catalog.cities.map((place) => entry(place, [], [place.city.name])),
    ...catalog.airports.map((place) => {
      const { iata, icao, name } = place.airport;
      return entry(place, [iata, icao], [name, `${place.city.city.name} ${name}`]);
    }),
  ];
}

/** Finds places by code or name, best first, at most SEARCH_LIMIT. */
export function searchPlaces(index: SearchIndex, typed: string): Place[] {
  const query = foldText(typed);
  if (query === "") return [];
  const words = query.split(" ");
  const found: { readonly rank: number; readonly entry: Entry }[] = [];
  for (const entry of index) {
    const rank = rankOf(entry, query, words);
    if (rank !== undefined) found.push({ rank, entry });
  }
  return found
    .toSorted((a, b) => a.rank - b.rank || b.entry.weight - a.entry.weight)
    .slice(0, SEARCH_LIMIT)
    .map(({ entry }) => entry.place);
}

function rankOf(entry: Entry, query: string, words: readonly string[]): number | undefined {
  if (entry.codes.includes(query)) return RANK.code;
  let best: number | undefined;
  for (const name of entry.names) {
    const rank = rankOfName(name, query, words);
    if (rank !== undefined && (best === undefined || rank < best)) best = rank;
  }
  if (best !== undefined && best < RANK.codePrefix) return best;
  const hasCodePrefix = entry.codes.some((code) => code.startsWith(query));
  return hasCodePrefix ? RANK.codePrefix : best;
}

function rankOfName(name: string, query: string, words: readonly string[]): number | undefined {
  if (name === query) return RANK.name;
  if (name.startsWith(query)) return RANK.namePrefix;
  const at = name.indexOf(query);
  if (at > 0 && name[at - 1] === " ") return RANK.wordPrefix;
  if (words.length > 1 && words.every((word) => ` ${name}`.includes(` ${word}`)))
    return RANK.wordPrefix;
  // One or two letters match inside nearly every word.
  return at > 0 && query.length > 2 ? RANK.inside : undefined;
}
