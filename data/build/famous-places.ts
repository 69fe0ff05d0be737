import anyAscii from "any-ascii";
import { distanceKm, type Position } from "../../src/catalog/positions.ts";
import { foldForSearch } from "../../client/src/search/fold.ts";
import { isLike } from "./like.ts";

/** A populated place without scheduled service. */
export interface Unserved extends Position {
  readonly geonames: string;
  readonly name: string;
  readonly country: string;
  readonly people: number;
  /** GeoNames' other names of it, in all languages. */
  readonly names: readonly string[];
}

/** An airport to which travellers may fly. */
export interface Reachable extends Position {
  readonly iata: string;
  readonly country: string;
}

/** Scripts of languages in which the world's places have names where people know them. */
const SCRIPTS =
  `Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi
  Han Hangul Hebrew Kannada Katakana Khmer Lao Malayalam Myanmar Sinhala Tamil Telugu Thai Tibetan`
    .split(/\s+/)
    .map((script) => new RegExp(`\\p{Script=${script}}`, "u"));

/**
 * How well the world knows a place: in how many scripts GeoNames has a name for it. Where two are
 * alike, the one with more names is better known.
 */
export function fameOf({ names }: Unserved): number {
  const all = names.join();
  return SCRIPTS.filter((script) => script.test(all)).length + names.length / 1_000;
}

/** Farther away, no airport is that of a place. */
const REACH_KM = 300;
/** A journey of so many kilometres is worth an airport of another rank, or to avoid a border. */
const KM_PER_DECADE = 90;
const FREQUENT = 150;
const BORDER_KM = 25;
/** Airports that cost so much more than the best one are taken, too: at most so many. */
const ALIKE_KM = 45;
const AIRPORTS_MAX = 3;

/**
 * Finds the airports that travellers take to a place: near ones, where they have flights.
 *
 * @param airports with scheduled service, the busiest first.
 */
export function airportsFor<A extends Reachable>(
  place: Position & { readonly country?: string | undefined },
  airports: readonly A[],
): A[] {
  const near = airports
    .map((airport, rank) => ({ airport, rank, km: distanceKm(airport, place) }))
    .filter(({ km }) => km <= REACH_KM)
    .map(({ airport, rank, km }) => {
      const isAbroad = place.country !== undefined && airport.country !== place.country;
      const detour = KM_PER_DECADE * Math.log10(1 + rank / FREQUENT);
      return { airport, cost: km + detour + (isAbroad ? BORDER_KM : 0) };
    })
    .toSorted((a, b) => a.cost - b.cost);
  const least = near[0]?.cost ?? 0;
  return near
    .filter(({ cost }) => cost <= least + ALIKE_KM)
    .slice(0, AIRPORTS_MAX)
    .map(({ airport }) => airport);
}

const LATIN = /^[a-z ]+$/u;
/** Endings by which Latin, Lithuanian and Esperanto take a name in, and transliterations of `э`. */
const TAKEN_IN = /(?:us|um|as|is)$|e[hj]/u;
const LATIN_MIN_LENGTH = 3;
const LATIN_MOST = 30;
/** Other scripts in which travellers type a place: so many names in each. */
const TYPED: readonly { readonly script: RegExp; readonly most: number }[] = [
  { script: /^[а-яё ]+$/u, most: 1 },
  { script: /^\p{Script=Han}+$/u, most: 2 },
  { script: /^[\p{Script=Katakana}ー ]+$/u, most: 1 },
  { script: /^[\p{Script=Hangul} ]+$/u, most: 1 },
];

/** Scripts of which GeoNames has transliterations among its names: `ljucern` for Люцерн. */
const ALPHABETS = /^[\p{Script=Cyrillic}\p{Script=Greek} ]+$/u;

/** A name as transliterations of all kinds have it alike. */
function soundOf(name: string): string {
  return foldForSearch(anyAscii(name))
    .replaceAll(/h|(?<=.)[ijy](?=[aeou])/g, "")
    .replaceAll(/[yj]/g, "i")
    .replaceAll(/w|ou/g, "v")
    .replaceAll(/c|ts|kk|q/g, "k")
    .replaceAll("nt", "d")
    .replaceAll("mp", "b");
}

/** Chooses from folded names those in Latin letters, and in the script of the country, if it has another. */
export function homeNames(
  own: string,
  names: readonly string[],
  ownScript: RegExp | undefined,
): string[] {
  return typedNames(own, names, ownScript).filter(
    (name) => LATIN.test(name) || ownScript?.test(name),
  );
}

/**
 * Chooses from the folded names of a place those that travellers type: few, because each costs bytes.
 *
 * @param ownScript that of the country, if it is not Latin.
 */
export function typedNames(
  own: string,
  names: readonly string[],
  ownScript: RegExp | undefined,
): string[] {
  const foreign = names.filter((name) => !LATIN.test(name));
  const transliterated = foreign.filter((name) => ALPHABETS.test(name)).map(soundOf);
  const latin = [own];
  const words = own.split(" ").length;
  for (const name of names)
    if (
      LATIN.test(name) &&
      name.length >= LATIN_MIN_LENGTH &&
      !TAKEN_IN.test(name) &&
      name.split(" ").length <= words &&
      !transliterated.some((other) => isLike(soundOf(name), other)) &&
      !latin.some((other) => isLike(name, other))
    )
      latin.push(name);
  return [
    ...latin.slice(1, 1 + LATIN_MOST),
    ...[...TYPED, ...(ownScript ? [{ script: ownScript, most: 4 }] : [])].flatMap(
      ({ script, most }) =>
        [...new Set(foreign)].filter((name) => script.test(name)).slice(0, most),
    ),
  ];
}
