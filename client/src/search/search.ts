/** Searches a catalog by what travellers type. Pure: no page, no network. */
import type { AirportPlace, CityPlace, Place } from "../catalog.ts";
import { readKana } from "./kana.ts";
import { otherSpellings } from "./letters.ts";
import { UNRANKED } from "./ranks.ts";
import type { Entry, SearchIndex } from "./search-index.ts";
import {
  foldQuery,
  isAdded,
  isTelling,
  LENGTH_MAX,
  respell,
  type SmallWord,
  smallWord,
  withoutKind,
  withSpellings,
} from "./search-words.ts";
import { wordsNear } from "./typo.ts";
import { bitsIn, type WordList } from "./word-list.ts";

/** Most listed results. */
export const SEARCH_LIMIT = 40;

/** A result. */
export interface Found {
  /** Of the place in `listPlaces`. */
  readonly position: number;
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
  /** Whether it lacks words of the query, because no place has all of them, or is only a guess. */
  readonly isPartial: boolean;
}

interface SearchSettings {
  /** Whether it only finds what has the text as it is typed. Default: false. */
  readonly isExact?: boolean;
}

/** How a query matches a place, and what that is worth: lower is better. */
const COST = {
  /** By the code of an airport or the three letters of a city's: less than any other, whatever the sizes. */
  code: -9,
  /** By a code of a country, or an abbreviation of a city: LA, HCMC. */
  shortCode: 0,
  name: 1,
  namePrefix: 1.6,
  /** By the very name of its region or country, of an airport. */
  where: 1.2,
  /** By that of its city. */
  ofCity: 1.3,
  alias: 1.75,
  word: 2,
  aliasPrefix: 2.4,
  /** By a code that yields to a name. */
  yielded: 1.3,
  /** By other words of what it lies in, of an airport. */
  within: 2.2,
  anyWord: 2.6,
  /** By the name of what it lies in, of a city: its airport says enough. */
  cityWithin: 2.6,
  /** Of words that ten places have, where a query has others: the rare ones say more. */
  common: 0.7,
  /** Of each word for an airport that the place lacks. */
  missing: 0.2,
};
/** Of each word that only the city, the region or the country has: by how it has it. */
const LENT_COST = [Infinity, 1.1, 0.9, 0.5, 0.1] as const;
/** How much a large place is before a small one. */
const SIZE_WEIGHT = 1.7;
/** How much an airport is before its city where somebody asks for an airport. */
const ASKED_FOR_AIRPORT = 1.6;
/** From this size on, everybody knows a country or a city by a word of three letters. */
const KNOWN_SIZE = 0.5;
/** Of an airport or a city; ICAO codes are longer. */
const CODE_LENGTH = 3;
/** But the dot above, which Turkish keyboards write on a capital I. */
const MARKS = /(?!\u0307)\p{M}/u;
/** So many other spellings of a text are tried. */
const READINGS_MAX = 4;
/** So many corrections of a word are tried, and of each if two are wrong. */
const CORRECTIONS_MAX = 6;
const CORRECTIONS_OF_TWO_MAX = 3;
/** Where fewer places than these match as it is typed, typos are forgiven. */
const ENOUGH = 10;
/** Shortest texts in which two and three typos are forgiven where nothing else is found. */
const TWICE_MIN_LENGTH = 6;
const THRICE_MIN_LENGTH = 10;
/** Puts what a corrected text leads to after what matches as it is typed. */
const CORRECTED = 100;
/** Of each typo, and of a word that is only begun. */
const TYPO_COST = 0.8;
const BEGUN_COST = 0.5;
/** How much larger than its airport a town of 40,000 is at most. */
const TOWN_SIZE = 0.05;
/** How many airports count as busy. */
const BUSY_AIRPORTS = 500;
/** Shortest beginning of a word by which a city, a region or a country says where a place is. */
const WHERE_MIN_LENGTH = 3;

/**
 * Finds places by code or name, best first; the airports of a city follow it. Forgives spaces that
 * are missing or too many, and typos: what they lead to follows what matches as it is typed, and is a
 * guess. Where no place has all words, it finds those that have most. While names in other languages
 * are missing, what they could outrank is a guess, too, unless a busy city or country comes first.
 */
export function search(
  index: SearchIndex,
  typed: string,
  { isExact = false }: SearchSettings = {},
): Found[] {
  const query = foldQuery(typed);
  if (query === "") return [];
  const scores: Scores = new Map();
  const sure = new Set<number>();
  const add = (matches: readonly Match[], tier = 0, isSure: (found: Match) => boolean = always) => {
    for (const found of matches) {
      const { position, score } = found;
      scores.set(position, Math.min(tier + score, scores.get(position) ?? Infinity));
      if (isSure(found)) sure.add(position);
    }
  };
  const known: MatchedTexts = new Map();
  const exact = matchExactly(index, typed, known);
  add(exact);
  if (!exact.some(({ cost }) => cost === COST.code))
    for (const { text, isUsual } of otherReadings(index, typed, query)) {
      const read = match(index, text, known).map((found) => withCodeAs(COST.alias, found));
      add(read, 0, (found) => isUsual || isWhole(index, found, text));
    }
  if (isExact) return group(index, scores).map((found) => ({ ...found, isPartial: false }));
  if (!exact.some(({ cost }) => cost <= COST.word)) add(matchCodes(index, query));
  if (scores.size < ENOUGH && !exact.some((found) => isWhole(index, found, query)))
    for (const meant of corrections(index, query)) {
      const corrected = matchCorrected(index, meant, known);
      // Other spaces change no letter: they come before other letters, and are no guess.
      if (meant.cost === 0) add(corrected, CORRECTED / 2);
      else add(corrected, CORRECTED, never);
    }
  if (scores.size === 0) add(matchWithoutAdded(index, query, known));
  if (scores.size === 0) add(matchPartly(index, query, known), 0, never);
  if (scores.size === 0)
    for (const meant of correctTwice(index, query))
      add(matchCorrected(index, meant, known), 0, never);
  const found = group(index, scores);
  const isOutranked =
    !index.hasOtherNames &&
    needOf(index, query, exact) === "perhaps" &&
    !isBusy(index.places[found[0]?.position ?? -1]);
  return found.map((one) => ({ ...one, isPartial: isOutranked || !sure.has(one.position) }));
}

/** Whether a place is a city or a country whose name a traveller most probably means. */
function isBusy(place: Place | undefined): boolean {
  if (place === undefined || place.kind === "airport") return false;
  return place.airports.some(({ rank }) => rank < BUSY_AIRPORTS);
}

const always = () => true;
const never = () => false;

/** Whether names in other languages may change what a text finds. */
type Need = "no" | "perhaps" | "yes";

/**
 * Whether names in other languages, which an index lacks, may change what a text finds: `yes` where
 * nothing is found without them, `perhaps` where they could name a larger place.
 */
export function namesNeeded(index: SearchIndex, typed: string): Need {
  const query = foldQuery(typed);
  return query === "" ? "no" : needOf(index, query, match(index, query));
}

function needOf(index: SearchIndex, query: string, matches: readonly Match[]): Need {
  if (!matches.some(({ cost }) => cost <= COST.word)) return "yes";
  if (!isTelling(query)) return "no";
  const largest = index.entries.reduce((most, { size }) => Math.max(most, size), 0);
  const best = matches.reduce((least, { score }) => Math.min(least, score), Infinity);
  return best > COST.alias - largest * SIZE_WEIGHT ? "perhaps" : "no";
}

/** Whether a place has a code or a name that is all of a query. */
function isWhole({ entries }: SearchIndex, { position, cost }: Match, query: string): boolean {
  return cost <= COST.where || (entries[position]?.aliases.includes(query) ?? false);
}

/** Another text that somebody may have typed. */
interface Reading {
  readonly text: string;
  /** Whether it only writes a letter as others do: `aarhus` for `århus`, not `malmo` for `malmoe`. */
  readonly isUsual: boolean;
}

/** What the letters of a text stand for besides themselves, where words of places begin so. */
function otherReadings(index: SearchIndex, typed: string, query: string): Reading[] {
  const text = typed.slice(0, LENGTH_MAX);
  const areKnown = (words: string) =>
    words.split(" ").every((word) => isBeginning(index, word) || smallWord(word) !== undefined);
  const spellings = (isUnknown: boolean) =>
    otherSpellings(text, isUnknown).map(foldQuery).filter(areKnown).slice(0, READINGS_MAX);
  const usual = new Set([...spellings(false), ...readKana(text)]);
  const others = areKnown(query) ? [] : spellings(true);
  return [...new Set([...usual, ...others])]
    .filter((other) => other !== query)
    .map((other) => ({ text: other, isUsual: usual.has(other) }));
}

/** The score of each place that is found, by position. */
type Scores = Map<number, number>;

/** The positions of the lowest scores, as many as are listed: to sort all matches takes too long. */
function lowest(scores: Scores): number[] {
  const best: number[] = [];
  for (const position of scores.keys()) {
    let at = best.length;
    while (at > 0 && isBefore(position, best[at - 1])) at--;
    if (at < SEARCH_LIMIT) best.splice(at, 0, position);
    if (best.length > SEARCH_LIMIT) best.pop();
  }
  return best;

  function isBefore(position: number, other = 0): boolean {
    const [score = Infinity, ofOther = Infinity] = [scores.get(position), scores.get(other)];
    return score < ofOther || (score === ofOther && position < other);
  }
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

/** Finds what somebody may have meant. */
function matchCorrected(
  index: SearchIndex,
  { text, cost }: Correction,
  known: MatchedTexts,
): Match[] {
  return match(index, text, known)
    .map((found) => withCodeAs(COST.alias, found))
    .filter((found) => !text.includes(" ") || found.cost < COST.anyWord)
    .map((found) => ({ ...found, score: found.score + cost }));
}

/** Finds what matches a query well without the words that people add to names. */
function matchWithoutAdded(index: SearchIndex, query: string, known: MatchedTexts): Match[] {
  const rest = query
    .split(" ")
    .map(withoutKind)
    .filter((word) => !isAdded(word));
  if (rest.every((word) => smallWord(word) !== undefined) || rest.join(" ") === query) return [];
  return match(index, rest.join(" "), known).filter(({ cost }) => cost <= COST.word);
}

/** Finds the places that have most words of a query, each as it is typed or the likeliest correction. */
function matchPartly(index: SearchIndex, query: string, known: MatchedTexts): Match[] {
  const words = query
    .split(" ")
    .map(withoutKind)
    .filter((word) => !isAdded(word))
    .map((word) => ({ word, isSmall: smallWord(word) !== undefined }))
    .map(({ word, isSmall }) => ({ word: isSmall ? word : likeliest(index, word), isSmall }));
  const had = new Uint16Array(index.entries.length);
  for (const [at, { word, isSmall }] of words.entries())
    if (!isSmall)
      for (const position of placesWith(index, word))
        had[position] = (had[position] ?? 0) | (1 << at);
  const most = had.reduce((count, bits) => Math.max(count, bitsIn(bits)), 0);
  const having = new Map<number, number[]>();
  for (const [position, bits] of had.entries())
    if (most > 0 && bitsIn(bits) === most) {
      const positions = having.get(bits);
      if (positions === undefined) having.set(bits, [position]);
      else positions.push(position);
    }
  return [...having].flatMap(([bits, positions]) => {
    const some = words.filter(({ isSmall }, at) => isSmall || bits & (1 << at));
    const common = COST.common * Math.log10(positions.length);
    const text = some.map(({ word }) => word).join(" ");
    return match(index, text, known, positions)
      .filter(({ cost }) => cost <= COST.word)
      .map((found) => withCodeAs(COST.word, found))
      .map((found) => ({ ...found, score: found.score + common }));
  });
}

/**
 * Finds what matches a text as it is typed. A name of four letters is no ICAO code (Sylt), one of
 * three is no code of a smaller airport elsewhere, if everybody knows it (Kos), and letters with marks
 * are no code (Åre).
 */
function matchExactly(index: SearchIndex, typed: string, known: MatchedTexts): Match[] {
  const query = foldQuery(typed);
  const exact = match(index, query, known);
  const named = exact.filter(({ position }) => index.entries[position]?.names.includes(query));
  const isMarked = MARKS.test(typed.slice(0, LENGTH_MAX).normalize("NFKD"));
  return exact.map((found) => {
    const { size = 0, parents = [] } = index.entries[found.position] ?? {};
    const isLess = named.some(
      ({ position }) =>
        position !== parents[0] &&
        (query.length > CODE_LENGTH || isFamous(index.entries[position], size)),
    );
    return isMarked || isLess ? withCodeAs(COST.yielded, found) : found;
  });
}

/** Whether everybody knows a country or a city by its name, and better than what is of a size. */
function isFamous(entry: Entry | undefined, size: number): boolean {
  return (
    (entry?.kind === "country" || entry?.kind === "city") && entry.size > Math.max(size, KNOWN_SIZE)
  );
}

/** Takes from a match by a code that it comes before all others. */
function withCodeAs(cost: number, found: Match): Match {
  if (found.cost !== COST.code) return found;
  return { ...found, cost, score: found.score - found.cost + cost };
}

type Listed = Omit<Found, "isPartial">;

/**
 * Lists airports that are found under their city, the busiest first. The only airport of a town, or of
 * a city that has the name of one above it, says more than the city does, and comes before it.
 */
function group({ places, positionOf, entries }: SearchIndex, scores: Scores): Listed[] {
  const found = new Map<number, Listed>();
  const cityNames = new Set<string>();
  // Each that is looked at is listed, so that these are enough.
  for (const position of lowest(scores)) {
    if (found.size >= SEARCH_LIMIT) break;
    if (found.has(position)) continue;
    const place = places[position];
    if (place?.kind === "city") {
      const [only, other] = served(place);
      const at = (only && positionOf.get(only)) ?? -1;
      const sizeOfCity = (entries[position]?.size ?? 0) - (entries[at]?.size ?? 0);
      const isByCode = (scores.get(position) ?? Infinity) < COST.code / 2;
      const isLess = sizeOfCity < TOWN_SIZE || cityNames.has(place.name);
      if (isLess && !isByCode && other === undefined && scores.has(at))
        found.set(at, found.get(at) ?? { position: at, isUnderCity: false });
      cityNames.add(place.name);
    }
    found.set(position, { position, isUnderCity: false });
    if (place?.kind !== "city") continue;
    for (const airport of served(place)) {
      const under = positionOf.get(airport) ?? -1;
      if (scores.has(under) && !found.has(under))
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
  /** There. */
  readonly positions: readonly number[];
}

/** How a place has a word, in `LENT_COST`: among other names or its own, its beginning or all of it. */
const HOW = { not: 0, otherBeginning: 1, other: 2, beginning: 3, whole: 4 };

/** Finds the entries, or some of them, that have each word of a query, themselves or by what they are in. */
function match(
  index: SearchIndex,
  query: string,
  known: MatchedTexts = new Map(),
  among?: readonly number[],
): Match[] {
  const texts = query.split(" ");
  const isAllSmall = texts.every((text) => smallWord(text) !== undefined);
  const words = texts.map((text) => {
    const small = isAllSmall ? undefined : smallWord(text);
    const ofText = known.get(text) ?? matchWord(index, text);
    known.set(text, ofText);
    return { text, small, ...ofText };
  });
  const phrases = new Map<number, readonly string[]>();
  const named = areasNamed(index, words);
  const costOfWords = (entry: Entry, { directWords, lentCost }: MatchedWords): number => {
    const phrase = phrases.get(directWords) ?? phrasesOf(words, directWords);
    phrases.set(directWords, phrase);
    return lentCost + (phrase.length > 0 ? costOf(entry, phrase, named) : costWithin(entry, named));
  };
  const isForAirport = words.some(({ small }) => small === "airport");
  const needed = words.filter(({ small }) => small === undefined);
  const matches: Match[] = [];
  const [fewest = []] = needed
    .map(({ positions }) => positions)
    .toSorted((a, b) => a.length - b.length);
  for (const position of among ?? fewest) {
    const entry = index.entries[position];
    if (entry === undefined || !hasAll(needed, position)) continue;
    const matched = matchWords(entry, position, words);
    let cost = Infinity;
    for (const some of matched) cost = Math.min(cost, costOfWords(entry, some));
    if (isForAirport && entry.kind === "airport" && matched.some(({ isNamed }) => isNamed))
      cost -= ASKED_FOR_AIRPORT;
    if (cost < Infinity) matches.push({ position, cost, score: cost - entry.size * SIZE_WEIGHT });
  }
  return matches;
}

function hasAll(words: readonly QueryWord[], position: number): boolean {
  for (const { has } of words) if (!has[position]) return false;
  return true;
}

type MatchedText = Omit<QueryWord, "text" | "small">;
/** What words match, those that several queries have. */
type MatchedTexts = Map<string, MatchedText>;

/** Finds the entries that a word matches by itself. */
function matchWord(index: SearchIndex, text: string): MatchedText {
  const { names, aliases, codes, regionCodes, entries, within } = index;
  const direct = new Uint8Array(entries.length);
  const lent = new Uint8Array(entries.length);
  const has = new Uint8Array(entries.length);
  const positions: number[] = [];
  const give = (position: number) => {
    if (has[position]) return;
    has[position] = 1;
    positions.push(position);
  };
  const lend = (lenders: readonly number[], how: number) => {
    for (const position of lenders) {
      if (how !== HOW.whole && isWide(entries[position])) continue;
      if (!lent[position]) for (const child of within[position] ?? []) give(child);
      lent[position] = Math.max(how, lent[position] ?? 0);
    }
  };
  const mark = (having: readonly number[], how: number) => {
    for (const position of having) {
      direct[position] = 1;
      give(position);
    }
    if (how !== HOW.not) lend(having, how);
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
  return { direct, lent, has, positions };
}

/** The positions of what has a word, or lies in what has it. */
function placesWith({ names, aliases, codes, within }: SearchIndex, word: string): number[] {
  const spellings = [...new Set([word, respell(word)])];
  const having = spellings.flatMap((one) => [
    ...names.entriesWith(one),
    ...aliases.entriesWith(one),
    ...(codes.get(one) ?? []),
  ]);
  return [...having, ...having.flatMap((position) => within[position] ?? [])];
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

/** The cost of a word that a place need not have: one that only joins others says nothing. */
function missingCost(small: SmallWord): number {
  return small === "airport" ? COST.missing : 0;
}

/**
 * Parts the words of a query that an entry has: those that it has by itself first, and where that
 * differs, those that say where it is first (Crete is among the names of its airport, too), or only
 * the last one (`new york ny`).
 */
function matchWords(
  { parents }: Entry,
  position: number,
  words: readonly QueryWord[],
): readonly MatchedWords[] {
  const byName = { directWords: 0, isNamed: false, lentCost: 0 };
  const byPlace = { directWords: 0, isNamed: false, lentCost: 0 };
  const byEnd = { directWords: 0, isNamed: false, lentCost: 0 };
  const ways = [byName, byPlace, byEnd];
  const last = words.length - 1;
  for (const [at, { small, direct, lent }] of words.entries()) {
    let how = HOW.not;
    if (small === undefined)
      for (const parent of parents) how = Math.max(how, lent[parent] ?? HOW.not);
    const cost = small ? missingCost(small) : (LENT_COST[how] ?? Infinity);
    for (const matched of ways) {
      const isByName = matched === byName || (matched === byEnd && at < last);
      if (direct[position] && (isByName || how === HOW.not)) {
        matched.directWords |= 1 << at;
        matched.isNamed ||= small === undefined;
      } else {
        matched.lentCost += cost;
        matched.isNamed ||= !small && (lent[parents[0] ?? -1] ?? HOW.not) > HOW.not;
      }
    }
  }
  return byName.directWords === byPlace.directWords ? [byName] : ways;
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

/** The positions of the cities, regions and countries whose very name a query is. */
function areasNamed({ names, entries }: SearchIndex, words: readonly QueryWord[]): Set<number> {
  const needed = words.filter(({ small }) => small === undefined).map(({ text }) => text);
  const [phrase = "", respelt = phrase] = withSpellings([needed.join(" ")]);
  const positions = names.entriesWith(respelt.split(" ")[0] ?? "");
  const isNamed = (entry: Entry | undefined) =>
    entry !== undefined &&
    entry.kind !== "airport" &&
    (entry.names.includes(phrase) || entry.names.includes(respelt));
  return new Set(positions.filter((position) => isNamed(entries[position])));
}

/** The cost of a place that only lies in what the query names. */
function costWithin({ kind, parents }: Entry, named: ReadonlySet<number>): number {
  if (kind !== "airport") return COST.cityWithin;
  if (named.has(parents[0] ?? -1)) return COST.ofCity;
  return parents.some((parent) => named.has(parent)) ? COST.where : COST.within;
}

/** The cost of a phrase. Of an airport that has the name of its region or country, as lying there. */
function costOf(entry: Entry, phrases: readonly string[], named: ReadonlySet<number>): number {
  const cost = Math.min(...phrases.map((phrase) => costOfPhrase(entry, phrase)));
  const isInNamed =
    cost >= COST.name &&
    cost < COST.where &&
    named.size > 0 &&
    entry.kind === "airport" &&
    entry.parents.some((parent, at) => at > 0 && named.has(parent));
  return isInNamed ? COST.where : cost;
}

function costOfPhrase({ kind, codes, names, aliases }: Entry, phrase: string): number {
  if (codes.includes(phrase))
    return kind === "airport" || (kind === "city" && phrase.length === CODE_LENGTH)
      ? COST.code
      : COST.shortCode;
  if (names.includes(phrase)) return COST.name;
  if (names.some((name) => name.startsWith(phrase))) return COST.namePrefix;
  if (aliases.includes(phrase))
    return phrase.includes(" ") || names.some((name) => phrase.startsWith(`${name} `))
      ? COST.name
      : COST.alias;
  if (names.some((name) => name.includes(` ${phrase}`))) return COST.word;
  if (aliases.some((alias) => alias.startsWith(phrase))) return COST.aliasPrefix;
  return kind === "airport" && isScattered(phrase, [...names, ...codes], aliases)
    ? Infinity
    : COST.anyWord;
}

/** Whether only the names of several places that an airport serves have the words of a text together. */
function isScattered(phrase: string, own: readonly string[], aliases: readonly string[]): boolean {
  const words = phrase.split(" ");
  const hasWord = (text: string) => (word: string) => ` ${text}`.includes(` ${word}`);
  return (
    words.length > 1 &&
    !own.some((text) => words.some(hasWord(text))) &&
    !aliases.some((text) => words.every(hasWord(text)))
  );
}

/** What somebody may have meant, and what the typos cost. */
interface Correction {
  readonly text: string;
  readonly cost: number;
  /** Whether only the beginning of a word is like what was typed. */
  readonly isBegun: boolean;
}

/** A word that is like a misspelt one. */
interface LikelyWord extends Correction {
  /** With the size of the largest place that has it. Lower is likelier. */
  readonly score: number;
}

/** Queries that somebody may have meant: with other spaces, or with one or two other words. */
function corrections(index: SearchIndex, query: string): Correction[] {
  const words = query.split(" ");
  const spaced = [...correctSpaces(index, query)].filter((other) => other !== query);
  const names = nearWords(index, [index.unspacedNames], words.join("")).filter(
    ({ isBegun }) => !isBegun,
  );
  return [
    ...spaced.map((text) => ({ text, cost: 0, isBegun: false })),
    ...names.map((name) => withSpaces(index, name)),
    ...correctWords(index, words),
  ];
}

/** Replaces the first two words that no place has, or each word by itself if all are known. */
function correctWords(index: SearchIndex, words: readonly string[]): Correction[] {
  const last = words.length - 1;
  const isKnown = (word: string, at: number) =>
    isWord(index, word) || (at > 0 && at === last && isBeginning(index, word));
  const needed = [...words.entries()]
    .filter(([, word]) => smallWord(word) === undefined)
    .map(([at, word]) => ({ at, word, isKnown: isKnown(word, at) }));
  const wrong = needed.filter((one) => !one.isKnown).slice(0, 2);
  const replaced = (wrong.length > 0 ? wrong : needed).map(({ at, word }) =>
    nearWords(index, [index.names, index.aliases], word).map((near) => ({ ...near, at })),
  );
  const [first = [], second = []] = wrong.length === 2 ? replaced : [replaced.flat()];
  if (wrong.length < 2)
    return first.map(({ at, text, cost, isBegun }) => ({
      text: words.with(at, text).join(" "),
      cost,
      isBegun,
    }));
  return first.slice(0, CORRECTIONS_OF_TWO_MAX).flatMap((one) =>
    second.slice(0, CORRECTIONS_OF_TWO_MAX).map((other) => ({
      text: words.with(one.at, one.text).with(other.at, other.text).join(" "),
      cost: one.cost + other.cost,
      isBegun: one.isBegun || other.isBegun,
    })),
  );
}

/** Names with two typos in a text of six letters or more that is otherwise nothing, three in a long one. */
function correctTwice(index: SearchIndex, query: string): Correction[] {
  const typed = query.replaceAll(" ", "");
  if (typed.length < TWICE_MIN_LENGTH) return [];
  const most = typed.length < THRICE_MIN_LENGTH ? 2 : 3;
  return nearWords(index, [index.names, index.aliases, index.unspacedNames], typed, most)
    .filter(({ isBegun }) => !isBegun)
    .map((name) => withSpaces(index, name));
}

/** A correction with the spaces that its name has. */
function withSpaces({ unspaced }: SearchIndex, { text, cost, isBegun }: Correction): Correction {
  return { text: unspaced.get(text) ?? text, cost, isBegun };
}

/** The words that a misspelt one may stand for, the likeliest first: those of large places. */
function nearWords(
  { entries }: SearchIndex,
  lists: readonly WordList[],
  typed: string,
  most?: number,
): LikelyWord[] {
  const likely = new Map<string, LikelyWord>();
  for (const list of lists)
    for (const { word, at, typos, isBegun } of wordsNear(list, typed, most)) {
      const cost = typos * TYPO_COST + (isBegun ? BEGUN_COST : 0);
      let size = 0;
      for (const position of list.entries[at] ?? [])
        size = Math.max(size, entries[position]?.size ?? 0);
      const score = cost - size * SIZE_WEIGHT;
      if (score < (likely.get(word)?.score ?? Infinity))
        likely.set(word, { text: word, cost, isBegun, score });
    }
  return [...likely.values()].toSorted((a, b) => a.score - b.score).slice(0, CORRECTIONS_MAX);
}

/** Corrects spaces that are missing or too many. */
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
  }
  return found;
}

/** The word itself, if a place has it, or the one that it may stand for. */
function likeliest(index: SearchIndex, word: string): string {
  if (isWord(index, word)) return word;
  return nearWords(index, [index.names, index.aliases], word)[0]?.text ?? word;
}

function isWord({ names, aliases }: SearchIndex, word: string): boolean {
  return names.entriesWith(word).length > 0 || aliases.entriesWith(word).length > 0;
}

function isBeginning({ names, aliases }: SearchIndex, word: string): boolean {
  return names.hasBeginning(word) || aliases.hasBeginning(word);
}
