import type { Catalog, Place } from "./catalog.ts";
import { foldForSearch } from "./fold.ts";
import { geonamesOf, type Ranks, UNRANKED } from "./ranks.ts";
import { startsWithTypo, TYPO_MIN_LENGTH } from "./typo.ts";

/** Most listed results. */
export const SEARCH_LIMIT = 40;

interface Entry {
  /** Folded codes. They match as a whole only. */
  readonly codes: readonly string[];
  /** Folded names; those that are its own come before `borrowed` ones. */
  readonly names: string[];
  /** Names of the city of an airport, and of the country of a city. */
  readonly borrowed: string[];
  /** From 0 for a strip in the country to 1 for a metropolis. */
  readonly size: number;
}

/** The search index of one answer. An entry's position is that of its place in `listPlaces`. */
export interface SearchIndex {
  readonly entries: readonly Entry[];
  /** The texts of all entries, and where each begins: one long text is searched fastest. */
  haystack: { readonly text: string; readonly starts: readonly number[] };
  /** Each word with the size of the largest place that has it. */
  readonly words: Map<string, number>;
  /** Positions of the cities by GeoNames id in base 36. */
  readonly cityAt: ReadonlyMap<string, number>;
  /** Positions of the airports of a city, by the city's position. */
  readonly airportsAt: ReadonlyMap<number, readonly number[]>;
}

/** Where a query matches, and what that is worth: lower is better. */
const RANK = { code: 0, name: 1, namePrefix: 1.6, borrowed: 1.9, word: 2, anyWord: 2.6, typo: 3.6 };
/** How many ranks a metropolis is before a strip. */
const SIZE_WEIGHT = 1.7;
const TIER_SIZES = [0.85, 0.6, 0.4, 0.1] as const;
/** So many corrections of a misspelt word are tried. */
const CORRECTIONS_MAX = 6;

/** What people call countries, besides their names in the catalog and in the reader's language. */
const COUNTRY_ALIASES: { readonly [code: string]: readonly string[] } = {
  AE: ["UAE"],
  CD: ["DRC"],
  CI: ["Ivory Coast"],
  CZ: ["Czech Republic"],
  GB: ["UK", "Great Britain"],
  KR: ["Korea"],
  MM: ["Burma"],
  NL: ["Holland"],
  SZ: ["Swaziland"],
  TR: ["Turkey"],
  US: ["America"],
};

/** All places in the order of the index. */
export function listPlaces({ airports, cities, countries, regions }: Catalog): Place[] {
  return [...airports, ...cities, ...countries, ...regions];
}

/** Folds all names and codes of the catalog. `countryName` names a country in the reader's language. */
export function createSearchIndex(
  catalog: Catalog,
  { ranks, countryName }: { ranks: Ranks; countryName: (code: string) => string },
): SearchIndex {
  const places = listPlaces(catalog);
  const countryNames = new Map(
    catalog.countries.map(({ code, name, nameNative }) => {
      const aliases = COUNTRY_ALIASES[code] ?? [];
      return [code, foldAll([name, nameNative, countryName(code), ...aliases])];
    }),
  );
  const positionOf = new Map(places.map((place, position) => [place, position]));
  const entries = places.map((place): Entry => {
    const { codes, names, borrowed } = textsOf(place, ranks);
    const entry = { codes: foldAll(codes), names: foldAll(names), borrowed: foldAll(borrowed) };
    if (place.kind === "country") entry.names = countryNames.get(place.code) ?? [];
    if (place.kind === "city") entry.borrowed.push(...(countryNames.get(place.country.code) ?? []));
    return { ...entry, size: sizeOf(place) };
  });
  const words = new Map<string, number>();
  for (const { names, size } of entries) addWords(words, names, size);
  const positions = (list: readonly Place[]) => list.map((place) => positionOf.get(place) ?? 0);
  return {
    entries,
    haystack: join(entries),
    words,
    cityAt: new Map(catalog.cities.map((city) => [geonamesOf(city.id), positionOf.get(city) ?? 0])),
    airportsAt: new Map(
      catalog.cities.map((city) => [positionOf.get(city) ?? 0, positions(city.airports)]),
    ),
  };
}

/** Adds the names of cities in other languages: lines of `scripts/city-ranks.ts`. */
export function addCityNames(index: SearchIndex, file: string): void {
  const { entries, words, cityAt, airportsAt } = index;
  for (const line of file.split("\n")) {
    const [id = "", names = ""] = line.split(/ (.*)/s);
    const position = cityAt.get(id) ?? -1;
    const city = entries[position];
    if (city === undefined) continue;
    const others = names.split("|");
    city.names.push(...others);
    addWords(words, others, city.size);
    for (const at of airportsAt.get(position) ?? []) entries[at]?.borrowed.push(...others);
  }
  index.haystack = join(entries);
}

function join(entries: readonly Entry[]): SearchIndex["haystack"] {
  const starts: number[] = [];
  let text = "";
  for (const { codes, names, borrowed } of entries) {
    starts.push(text.length);
    text += ` ${[...codes, ...names, ...borrowed].join(" ")}\n`;
  }
  return { text, starts };
}

/** Finds places by code or name, best first, as positions in `listPlaces`. Forgives one typo. */
export function search(index: SearchIndex, typed: string): number[] {
  const query = foldForSearch(typed);
  if (query === "") return [];
  const found = match(index, query, 0);
  if (!found.some(({ score }) => score <= RANK.word))
    for (const corrected of corrections(index.words, query))
      found.push(...match(index, corrected, RANK.typo));
  const best = new Map<number, number>();
  for (const { position, score } of found)
    best.set(position, Math.min(score, best.get(position) ?? score));
  return [...best]
    .toSorted(([a, scoreA], [b, scoreB]) => scoreA - scoreB || a - b)
    .slice(0, SEARCH_LIMIT)
    .map(([position]) => position);
}

interface Match {
  readonly position: number;
  readonly score: number;
}

/** Finds the entries in which each word of a query begins a word. */
function match({ entries, haystack }: SearchIndex, query: string, penalty: number): Match[] {
  const { text, starts } = haystack;
  const words = query.split(" ").map((word) => ` ${word}`);
  // The longest word is in the fewest places.
  const [longest = "", ...others] = words.toSorted((a, b) => b.length - a.length);
  const found: Match[] = [];
  let position = 0;
  for (let at = text.indexOf(longest); at >= 0; at = text.indexOf(longest, starts[position])) {
    while ((starts[position] ?? Infinity) <= at) position++;
    const entry = entries[position - 1];
    if (entry === undefined) break;
    const line = text.slice(starts[position - 1], starts[position]);
    if (others.every((word) => line.includes(word))) {
      const score = rankOf(entry, query) + penalty - entry.size * SIZE_WEIGHT;
      found.push({ position: position - 1, score });
    }
    if (starts[position] === undefined) break;
  }
  return found;
}

function rankOf({ codes, names, borrowed }: Entry, query: string): number {
  if (codes.includes(query)) return RANK.code;
  if (names.includes(query)) return RANK.name;
  if (names.some((name) => name.startsWith(query))) return RANK.namePrefix;
  if (borrowed.includes(query)) return RANK.borrowed;
  return names.some((name) => name.includes(` ${query}`)) ? RANK.word : RANK.anyWord;
}

/** Replaces the first misspelt word of a query by words that are one typo away, large places first. */
function corrections(words: ReadonlyMap<string, number>, query: string): string[] {
  const typed = query.split(" ");
  const at = typed.findIndex((word) => word.length >= TYPO_MIN_LENGTH && !words.has(word));
  const wrong = typed[at];
  if (wrong === undefined) return [];
  const near = [...words].filter(([word]) => startsWithTypo(word, wrong));
  return near
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, CORRECTIONS_MAX)
    .map(([word]) => typed.with(at, word).join(" "));
}

function textsOf(place: Place, ranks: Ranks) {
  switch (place.kind) {
    case "airport": {
      const { iata, icao, name, city } = place;
      const codes = [iata, icao, ...ranks.metrosOf(city.id)];
      return { codes, names: [name], borrowed: [city.name] };
    }
    case "city":
      return { codes: ranks.metrosOf(place.id), names: [place.name], borrowed: [] };
    case "country":
      return { codes: [place.code, place.code3], names: [], borrowed: [] };
    case "region": {
      const { name, nameEnglish, slugLocalized } = place;
      return { codes: [], names: [name, nameEnglish, slugLocalized], borrowed: [] };
    }
    default:
      return place satisfies never;
  }
}

function sizeOf(place: Place): number {
  switch (place.kind) {
    case "airport":
      return TIER_SIZES[place.tier] + citySize(place.city.rank) / 10;
    case "city": {
      const tier = Math.min(...place.airports.map((airport) => airport.tier), 3);
      return Math.max(citySize(place.rank), TIER_SIZES[tier] ?? 0) + citySize(place.rank) / 5;
    }
    case "country":
      return 1;
    case "region":
      return Math.min(1, Math.log10(1 + place.airports.length) / 3);
    default:
      return place satisfies never;
  }
}

/** A rank among 4,000 cities as a size of 0 to 1. */
function citySize(rank: number): number {
  return rank === UNRANKED ? 0 : 1 - Math.log(1 + rank) / Math.log(UNRANKED);
}

function foldAll(texts: readonly string[]): string[] {
  return [...new Set(texts.map(foldForSearch))].filter((text) => text !== "");
}

function addWords(words: Map<string, number>, names: readonly string[], size: number): void {
  for (const name of names)
    for (const word of name.split(" "))
      if (word.length >= TYPO_MIN_LENGTH - 1) words.set(word, Math.max(size, words.get(word) ?? 0));
}
