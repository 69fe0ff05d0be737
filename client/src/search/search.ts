/** Searches a catalog by what travellers type. Pure: no page, no network. */
import type { AirportPlace, CityPlace } from "../catalog.ts";
import { UNRANKED } from "./ranks.ts";
import type { Entry, SearchIndex } from "./search-index.ts";
import {
  foldQuery,
  isAdded,
  isTelling,
  respell,
  smallWord,
  withoutKind,
  withSpellings,
} from "./search-words.ts";
import { TYPO_MIN_LENGTH, wordsWithTypo } from "./typo.ts";

/** Most listed results. */
export const SEARCH_LIMIT = 40;

/** A result. */
export interface Found {
  /** Of the place in `listPlaces`. */
  readonly position: number;
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
}

/** How a query matches a place, and what that is worth: lower is better. */
const COST = {
  code: 0,
  /** By its ICAO code, which may also be a name: Sylt. */
  icao: 1.3,
  name: 1,
  namePrefix: 1.6,
  /** By the very name of its region or country, of an airport. */
  where: 1.1,
  alias: 1.75,
  word: 2,
  aliasPrefix: 2.4,
  /** By other words of what it lies in, of an airport. */
  within: 2.2,
  anyWord: 2.6,
  /** By the name of what it lies in, of a city: its airport says enough. */
  cityWithin: 2.6,
  /** Of a query that had to be corrected. */
  corrected: 2,
  /** Of each word that the place need not have and lacks. */
  missing: 0.2,
};
/** Of each word that only the city, the region or the country has: by how it has it. */
const LENT_COST = [Infinity, 1.1, 0.9, 0.5, 0.1] as const;
/** How much a large place is before a small one. */
const SIZE_WEIGHT = 1.7;
/** How much an airport is before its city where somebody asks for an airport. */
const ASKED_FOR_AIRPORT = 1.6;
const ICAO_LENGTH = 4;
/** So many corrections of a query are tried. */
const CORRECTIONS_MAX = 6;
/** Shortest beginning of a word by which a city, a region or a country says where a place is. */
const WHERE_MIN_LENGTH = 3;

/**
 * Finds places by code or name, best first; the airports of a city follow it. Forgives spaces that
 * are missing or too many, and one typo.
 */
export function search(index: SearchIndex, typed: string): Found[] {
  const query = foldQuery(typed);
  if (query === "") return [];
  const matches = match(index, query);
  if (!matches.some(({ cost }) => cost <= COST.word)) {
    matches.push(...matchCodes(index, query), ...matchCorrected(index, query));
    if (matches.length === 0) matches.push(...matchRest(index, query));
  }
  const scores = new Float64Array(index.entries.length).fill(Infinity);
  for (const { position, score } of matches)
    scores[position] = Math.min(score, scores[position] ?? Infinity);
  return group(index, scores);
}

/**
 * Whether names in other languages, which an index lacks, may change what a text finds: `yes` where
 * nothing is found without them, `perhaps` where they could name a larger place.
 */
export function namesNeeded(index: SearchIndex, typed: string): "no" | "perhaps" | "yes" {
  const query = foldQuery(typed);
  if (query === "") return "no";
  const matches = match(index, query);
  if (!matches.some(({ cost }) => cost <= COST.word)) return "yes";
  if (!isTelling(query)) return "no";
  const largest = index.entries.reduce((most, { size }) => Math.max(most, size), 0);
  const best = matches.reduce((least, { score }) => Math.min(least, score), Infinity);
  return best > COST.alias - largest * SIZE_WEIGHT ? "perhaps" : "no";
}

/** The positions of the lowest scores, as many as are listed: to sort all matches takes too long. */
function lowest(scores: Float64Array): number[] {
  const best: number[] = [];
  let limit = Infinity;
  for (let position = 0; position < scores.length; position++) {
    const score = scores[position] ?? Infinity;
    if (score >= limit) continue;
    let at = best.length;
    while (at > 0 && score < (scores[best[at - 1] ?? 0] ?? 0)) at--;
    best.splice(at, 0, position);
    if (best.length > SEARCH_LIMIT) best.pop();
    if (best.length === SEARCH_LIMIT) limit = scores[best.at(-1) ?? 0] ?? Infinity;
  }
  return best;
}

/** Finds the airports of a query of codes alone: both of `cdg ory`. */
function matchCodes({ codes, entries }: SearchIndex, query: string): Match[] {
  const words = query.split(" ").filter((word) => smallWord(word) === undefined);
  const found = words.map((word) => (codes.get(word) ?? []).filter(isAirport));
  if (words.length < 2 || found.some(({ length }) => length === 0)) return [];
  return found
    .flat()
    .map((position, at) => ({ position, cost: COST.code, score: at - words.length }));

  function isAirport(position: number): boolean {
    return entries[position]?.kind === "airport";
  }
}

/** Finds what somebody may have meant who has mistyped. */
function matchCorrected(index: SearchIndex, query: string): Match[] {
  return corrections(index, query).flatMap((corrected) =>
    match(index, corrected).map((found) => ({ ...found, score: found.score + COST.corrected })),
  );
}

/** Finds what matches a query well without the words that no place has, or that people add to names. */
function matchRest(index: SearchIndex, query: string): Match[] {
  const isKnown = (word: string) =>
    isBeginning(index, word) || index.codes.has(word) || smallWord(word) !== undefined;
  const rest = query
    .split(" ")
    .map(withoutKind)
    .filter((word) => !isAdded(word) && isKnown(word));
  if (rest.every((word) => smallWord(word) !== undefined) || rest.join(" ") === query) return [];
  return match(index, rest.join(" ")).filter(({ cost }) => cost <= COST.word);
}

/** Lists airports that are found under their city, the busiest first. */
function group({ places, positionOf }: SearchIndex, scores: Float64Array): Found[] {
  const found = new Map<number, Found>();
  // Each that is looked at is listed, so that these are enough.
  for (const position of lowest(scores)) {
    if (found.size >= SEARCH_LIMIT) break;
    if (found.has(position)) continue;
    found.set(position, { position, isUnderCity: false });
    const place = places[position];
    if (place?.kind !== "city") continue;
    for (const airport of served(place)) {
      const under = positionOf.get(airport) ?? -1;
      if (Number.isFinite(scores[under]) && !found.has(under))
        found.set(under, { position: under, isUnderCity: true });
    }
  }
  return [...found.values()].slice(0, SEARCH_LIMIT);
}

function served({ airports }: CityPlace): AirportPlace[] {
  return airports.filter(({ rank }) => rank !== UNRANKED).toSorted((a, b) => a.rank - b.rank);
}

interface Match {
  readonly position: number;
  /** Of the text alone. */
  readonly cost: number;
  /** With the size of the place. Lower is better. */
  readonly score: number;
}

/** A word of a query with what it matches, by position. */
interface QueryWord {
  readonly text: string;
  /** Whether a place need not have it. */
  readonly small: ReturnType<typeof smallWord>;
  /** 1 where a word of the entry begins with it, or where it is a code. */
  readonly direct: Uint8Array;
  /** How the entry has it, where that tells where other places are. */
  readonly lent: Uint8Array;
  /** 1 where the entry has it, or something that it lies in. */
  readonly has: Uint8Array;
}

/** How a place has a word, in `LENT_COST`: among other names or its own, its beginning or all of it. */
const HOW = { not: 0, otherBeginning: 1, other: 2, beginning: 3, whole: 4 };

/** Finds the entries that have each word of a query, themselves or by what they are in. */
function match(index: SearchIndex, query: string): Match[] {
  const texts = query.split(" ");
  const isAllSmall = texts.every((text) => smallWord(text) !== undefined);
  const found = new Map([...new Set(texts)].map((text) => [text, matchWord(index, text)]));
  const words = texts.flatMap((text) => {
    const small = isAllSmall ? undefined : smallWord(text);
    const ofText = found.get(text);
    return ofText ? [{ text, small, ...ofText }] : [];
  });
  const phrases = new Map<number, readonly string[]>();
  const named = areasNamed(index, words);
  const costOfWords = (entry: Entry, { directWords, lentCost }: MatchedWords): number => {
    const phrase = phrases.get(directWords) ?? phrasesOf(words, directWords);
    phrases.set(directWords, phrase);
    return lentCost + (phrase.length > 0 ? costOf(entry, phrase) : costWithin(entry, named));
  };
  const isForAirport = words.some(({ small }) => small === "airport");
  const needed = words.filter(({ small }) => small === undefined);
  const matches: Match[] = [];
  for (let position = 0; position < index.entries.length; position++) {
    const entry = index.entries[position];
    if (entry === undefined || needed.some(({ has }) => !has[position])) continue;
    const matched = matchWords(entry, position, words);
    let cost = Infinity;
    for (const some of matched) cost = Math.min(cost, costOfWords(entry, some));
    if (isForAirport && entry.kind === "airport" && matched.some(({ isNamed }) => isNamed))
      cost -= ASKED_FOR_AIRPORT;
    matches.push({ position, cost, score: cost - entry.size * SIZE_WEIGHT });
  }
  return matches;
}

/** Finds the entries that a word matches by itself. */
function matchWord(index: SearchIndex, text: string): Omit<QueryWord, "text" | "small"> {
  const { names, aliases, codes, regionCodes, entries, within } = index;
  const direct = new Uint8Array(entries.length);
  const lent = new Uint8Array(entries.length);
  const lend = (positions: readonly number[], how: number) => {
    for (const position of positions)
      if (how === HOW.whole || !isWide(entries[position]))
        lent[position] = Math.max(how, lent[position] ?? 0);
  };
  const mark = (positions: readonly number[], how: number) => {
    for (const position of positions) direct[position] = 1;
    if (how !== HOW.not) lend(positions, how);
  };
  const isWhere = text.length >= WHERE_MIN_LENGTH;
  for (const found of names.entriesBeginning(text)) mark(found, isWhere ? HOW.beginning : HOW.not);
  if (isTelling(text))
    for (const found of aliases.entriesBeginning(text))
      mark(found, isWhere ? HOW.otherBeginning : HOW.not);
  for (const word of new Set([text, respell(text)])) {
    mark(names.entriesWith(word), HOW.whole);
    mark(aliases.entriesWith(word), HOW.other);
  }
  mark(codes.get(text) ?? [], HOW.whole);
  lend(regionCodes.get(text) ?? [], HOW.whole);
  const has = direct.slice();
  for (let position = 0; position < lent.length; position++)
    if (lent[position]) for (const child of within[position] ?? []) has[child] = 1;
  return { direct, lent, has };
}

/** Whether an entry is a region of several countries: `south` does not begin Southern Europe. */
function isWide(entry: Entry | undefined): boolean {
  return entry?.kind === "region" && entry.parents.length === 0;
}

/** The words of a query that an entry has. */
interface MatchedWords {
  /** Those that it has by itself, a bit each. */
  readonly directWords: number;
  /** Whether its name or that of its city is among them, not only where it is. */
  readonly isNamed: boolean;
  /** What the others cost. */
  readonly lentCost: number;
}

/**
 * Parts the words of a query that an entry has: those that it has by itself first, and where that
 * differs, those that say where it is first (Crete is among the names of its airport, too).
 */
function matchWords(
  { parents }: Entry,
  position: number,
  words: readonly QueryWord[],
): readonly MatchedWords[] {
  const byName = { directWords: 0, isNamed: false, lentCost: 0 };
  const byPlace = { ...byName };
  for (const [at, { small, direct, lent }] of words.entries()) {
    let how = HOW.not;
    if (small === undefined)
      for (const parent of parents) how = Math.max(how, lent[parent] ?? HOW.not);
    const cost = small ? COST.missing : (LENT_COST[how] ?? Infinity);
    for (const matched of [byName, byPlace])
      if (direct[position] && (matched === byName || how === HOW.not)) {
        matched.directWords |= 1 << at;
        matched.isNamed ||= small === undefined;
      } else {
        matched.lentCost += cost;
        matched.isNamed ||= (lent[parents[0] ?? -1] ?? HOW.not) > HOW.not;
      }
  }
  return byName.directWords === byPlace.directWords ? [byName] : [byName, byPlace];
}

/**
 * Joins the words that an entry has by itself, with and without those that it need not have, in each
 * spelling. Empty where it only lies in what the query names.
 */
function phrasesOf(words: readonly QueryWord[], directWords: number): readonly string[] {
  const chosen = words.filter((_, at) => directWords & (1 << at));
  const needed = chosen.filter(({ small }) => small === undefined);
  if (needed.length === 0) return [];
  const joined = [chosen, needed].map((some) => some.map(({ text }) => text).join(" "));
  return withSpellings(joined);
}

/** The positions of the regions and countries whose very name a query is. */
function areasNamed({ names, entries }: SearchIndex, words: readonly QueryWord[]): Set<number> {
  const needed = words.filter(({ small }) => small === undefined).map(({ text }) => text);
  const [phrase = "", respelt = phrase] = withSpellings([needed.join(" ")]);
  const positions = names.entriesWith(respelt.split(" ")[0] ?? "");
  const isNamed = (entry: Entry | undefined) =>
    (entry?.kind === "region" || entry?.kind === "country") &&
    (entry.names.includes(phrase) || entry.names.includes(respelt));
  return new Set(positions.filter((position) => isNamed(entries[position])));
}

/** The cost of a place that only lies in what the query names. */
function costWithin({ kind, parents }: Entry, named: ReadonlySet<number>): number {
  if (kind !== "airport") return COST.cityWithin;
  return parents.some((parent) => named.has(parent)) ? COST.where : COST.within;
}

function costOf(entry: Entry, phrases: readonly string[]): number {
  return Math.min(...phrases.map((phrase) => costOfPhrase(entry, phrase)));
}

function costOfPhrase({ codes, names, aliases }: Entry, phrase: string): number {
  if (codes.includes(phrase)) return phrase.length === ICAO_LENGTH ? COST.icao : COST.code;
  if (names.includes(phrase)) return COST.name;
  if (names.some((name) => name.startsWith(phrase))) return COST.namePrefix;
  if (aliases.includes(phrase))
    return names.some((name) => phrase.startsWith(`${name} `)) ? COST.name : COST.alias;
  if (names.some((name) => name.includes(` ${phrase}`))) return COST.word;
  if (aliases.some((alias) => alias.startsWith(phrase))) return COST.aliasPrefix;
  return COST.anyWord;
}

/** Queries that somebody may have meant whose words are in no place, the likeliest first. */
function corrections(index: SearchIndex, query: string): string[] {
  const spaced = [...correctSpaces(index, query)].filter((other) => other !== query);
  return spaced.length > 0 ? spaced : correctTypo(index, query);
}

/** Corrects spaces that are missing or too many, and `ae` for `ä`. */
function correctSpaces(index: SearchIndex, query: string): Set<string> {
  const words = query.split(" ");
  const found = new Set<string>();
  const whole = index.unspaced.get(words.join(""));
  if (whole !== undefined) found.add(whole);
  for (const [at, word] of words.entries()) {
    const joined = word + (words[at + 1] ?? "");
    if (joined !== word && isWord(index, joined))
      found.add(words.toSpliced(at, 2, joined).join(" "));
    if (isBeginning(index, word)) continue;
    const parted = index.unspaced.get(word);
    if (parted !== undefined) found.add(words.with(at, parted).join(" "));
    const umlauts = word.replaceAll(/([aou])e/g, "$1");
    if (umlauts !== word && isBeginning(index, umlauts))
      found.add(words.with(at, umlauts).join(" "));
  }
  return found;
}

/** Replaces the first misspelt word of a query by words that are one typo away, large places first. */
function correctTypo(index: SearchIndex, query: string): string[] {
  const typed = query.split(" ");
  const at = typed.findIndex((word) => word.length >= TYPO_MIN_LENGTH && !isWord(index, word));
  const wrong = typed[at];
  if (wrong === undefined) return [];
  const { names, aliases, entries } = index;
  const near = [names, aliases].flatMap((list) =>
    wordsWithTypo(list.words, wrong).map((word) => {
      const sizes = list.entriesWith(word).map((position) => entries[position]?.size ?? 0);
      return { word, size: Math.max(...sizes) };
    }),
  );
  return near
    .toSorted((a, b) => b.size - a.size)
    .slice(0, CORRECTIONS_MAX)
    .map(({ word }) => typed.with(at, word).join(" "));
}

function isWord({ names, aliases }: SearchIndex, word: string): boolean {
  return names.entriesWith(word).length > 0 || aliases.entriesWith(word).length > 0;
}

function isBeginning({ names, aliases }: SearchIndex, word: string): boolean {
  return names.hasBeginning(word) || aliases.hasBeginning(word);
}
