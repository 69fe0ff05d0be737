import { foldText } from "../../src/catalog/fold.ts";
import { type CatalogRegion, countryOfRegion } from "./catalog-region.ts";
import { readCurated } from "./curated.ts";
import { isEnglishTitle } from "./english-titles.ts";
import { coreName, isKind, isLink, nameWords } from "./region-names.ts";
import { repeated } from "./repeated.ts";
import type { Sounds } from "./sound.ts";

/** The words by which a locale says what kind of region one is, and how a name stands with them. */
export interface HeadWords {
  /** Words before the name: `Provinz Bali`. */
  readonly before: readonly string[];
  /** Words after the name: `Antalya ili`; `~` begins those without a space: `Stockholms län`. */
  readonly after: readonly string[];
  /** What stands between a word before and the name: `Provincia de la Pampa`. */
  readonly links: readonly string[];
  /** Endings of the name beside such a word, and those that it has alone: `Κρήτης`, `Κρήτη`. */
  readonly nominative: readonly (readonly [ending: string, own: string])[];
  /** Endings that a name does not have alone, unless its English name has them. */
  readonly inflected: readonly string[];
}

type Column = "locale" | "before" | "after" | "links" | "nominative" | "inflected";

/** Locales that write no space between a name and such a word. */
export const UNSPACED: ReadonlySet<string> = new Set([
  "ja",
  "ko",
  "th",
  "yue",
  "yue-Hans",
  "zh",
  "zh-Hant",
]);

/**
 * Names of which the characters, or the syllables that a script has for foreign sounds, do not show
 * how they sound in English: as long as here they are no common words.
 */
const UNHEARD: ReadonlyMap<string, RegExp> = new Map([
  ["ja", /^[\p{Script=Katakana}ー・＝\s]{2,}$/u],
  ["ko", /^\p{Script=Hangul}{3,}$/u],
  ["th", /^[\p{Script=Thai}\p{M}]{4,}$/u],
  ["yue", /^.{3,}$/u],
  ["yue-Hans", /^.{3,}$/u],
  ["zh", /^.{3,}$/u],
  ["zh-Hant", /^.{3,}$/u],
]);

/**
 * What a name ends with in locales without spaces when a word such as 準州 or 자치공화국 was cut in
 * two. 特 is not among them: many Chinese names end with it (佛蒙特).
 */
export const HALF_WORD = /(?:[準准]|特[別别]|自治|首都|자치|특별|수도|\s[준특])$/u;

/** Islands are told from the mainland that they are named after: Riau Islands. */
const ISLANDS = /\bIslands?$/u;

/** Chinese regions are named without the word however short they are: 海南. */
const CHINA = "CN";

/** Locales in which the regions of their own country have the word: 福井県. */
const WITH_WORD_AT_HOME: ReadonlyMap<string, string> = new Map([["ja", "JP"]]);

/** A first letter that Irish softens after a word for the kind of region: `Contae Dhún na nGall`. */
const LENITED = /^([BCDFGMPST])h(?=\p{Ll})/u;

/** The article in the middle of a name; at its beginning it has a capital letter: `al-Kufra`. */
const ARABIC_ARTICLE = /^a(?=\p{Ll}{1,3}-\p{Lu})/u;

/** What joins two names in the languages that put a link before each. */
const AND: ReadonlySet<string> = new Set(["e", "et", "i", "y"]);

/**
 * Reads `curated/head-words.csv`, by locale.
 *
 * @throws Error that names a locale that CLDR does not have, or that is there twice.
 */
export function readHeadWords(locales: readonly string[]): ReadonlyMap<string, HeadWords> {
  const rows = readCurated<Column>("head-words");
  const unknown = rows.find(({ locale }) => !locales.includes(locale));
  if (unknown !== undefined) throw new Error(`head-words.csv: no such locale: ${unknown.locale}`);
  const [twice] = repeated(rows.map(({ locale }) => locale));
  if (twice !== undefined) throw new Error(`head-words.csv: ${twice} is there twice`);
  return new Map(
    rows.map((row) => [
      row.locale,
      {
        before: listed(row.before),
        after: listed(row.after),
        links: listed(row.links),
        nominative: listed(row.nominative).map((pair) => {
          const [ending = "", own = ""] = pair.split("=");
          return [ending, own] as const;
        }),
        inflected: listed(row.inflected),
      },
    ]),
  );
}

/** The parts of a cell, the longest first. */
function listed(cell: string): string[] {
  return cell
    .split("|")
    .filter((part) => part !== "")
    .toSorted((a, b) => b.length - a.length);
}

/** A locale's names by region key, and what they are judged by. */
interface Names {
  readonly locale: string;
  readonly names: ReadonlyMap<string, string>;
  readonly regions: readonly Pick<CatalogRegion, "key" | "bareName">[];
  readonly words: HeadWords | undefined;
  readonly sharesOnset: Sounds["sharesOnset"];
  readonly toAscii: (name: string) => string;
  /** What a table has for exactly this name, where no rule finds it. */
  readonly listed: (key: string, name: string) => string | undefined;
}

/**
 * A locale's names as travellers say them, without the word for the kind of region: `Bali`, not
 * `Provinz Bali`. The word stays where the English name has one too (Free State), where the rest does
 * not sound like the English name (Region Mitte) or is no name by itself (Московская область), and
 * where another region of the country would have the same name (Oblast Moskau) or has it in English,
 * however either is spelled (Kiew, Oblast Kyjiw).
 */
export function withoutHeadWords(world: Names): ReadonlyMap<string, string> {
  const { names, regions, words } = world;
  if (words === undefined) return names;
  const english = new Map(regions.map(({ key, bareName }) => [key, bareName]));
  const plain = new Map(
    [...names].map(([key, name]) => [key, plainName(key, name, english.get(key) ?? "", world)]),
  );
  const taken = Map.groupBy(
    regions.flatMap(({ key, bareName }) =>
      [...new Set([names.get(key) ?? bareName, plain.get(key) ?? bareName])].map((name) => ({
        key,
        id: nameInCountry(key, name),
      })),
    ),
    ({ id }) => id,
  );
  const idInEnglish = (key: string) => {
    const name = english.get(key) ?? "";
    return nameInCountry(key, ISLANDS.test(name) ? name : coreName(name));
  };
  const inEnglish = Map.groupBy(regions, ({ key }) => idInEnglish(key));
  return new Map(
    [...names].map(([key, name]) => {
      const found = plain.get(key) ?? name;
      const isAlone =
        taken.get(nameInCountry(key, found))?.length === 1 &&
        inEnglish.get(idInEnglish(key))?.length === 1;
      return [key, isAlone ? found : name];
    }),
  );
}

function nameInCountry(key: string, name: string): string {
  return `${countryOfRegion(key)}:${name.toLowerCase()}`;
}

function plainName(key: string, name: string, english: string, world: Names): string {
  const listed = world.listed(key, name);
  if (listed !== undefined) return listed;
  const country = countryOfRegion(key);
  if (country === "" || country === WITH_WORD_AT_HOME.get(world.locale)) return name;
  if (saysKind(english)) return name;
  return (
    restsOf(name, english, world).find((rest) => standsAlone(rest, { key, english, world })) ?? name
  );
}

/** Whether an English name has a word for the kind of region, as the Free State has. */
function saysKind(english: string): boolean {
  return foldText(english)
    .split("-")
    .some((word) => isKind(word) && !isLink(word));
}

/** Whether a Tamil word is doubled into the next: உத்தரப் before பிரதேசம் is none by itself. */
function isDoubled(rest: string, next: string): boolean {
  const [, letter] = /([கசதப])்$/u.exec(rest) ?? [];
  return letter !== undefined && next.startsWith(letter);
}

/** What remains of a name without its head word, in the order of preference. */
function restsOf(name: string, english: string, { locale, words }: Names): string[] {
  if (words === undefined) return [];
  const space = UNSPACED.has(locale) ? "" : " ";
  const after = words.after.find((word) => name.endsWith(glued(word) ?? space + word));
  const before = words.before.find((word) => name.startsWith(word + space));
  const rests = [];
  if (before !== undefined) {
    const rest = name.slice(before.length).trim();
    const link = words.links.find((one) => rest.startsWith(/['’]$/u.test(one) ? one : `${one} `));
    const own = rest.slice(link?.length ?? 0).trim();
    rests.push(locale === "ga" && !/^.h/u.test(english) ? own.replace(LENITED, "$1") : own);
  }
  if (after !== undefined) {
    const rest = name.slice(0, -(glued(after) ?? after).length).trim();
    if (!isDoubled(rest, after)) rests.push(rest);
  }
  return rests.map((rest) =>
    rest === english ? rest : inNominative(rest.replace(ARABIC_ARTICLE, "A"), words),
  );
}

/** A name with each word that a word before inflects, and the last that one after does, as it is alone. */
function inNominative(rest: string, { before, nominative }: HeadWords): string {
  return rest
    .split(" ")
    .map((word, at, all) => {
      if (before.length === 0 && at < all.length - 1) return word;
      const [ending = "", own = ""] = nominative.find(([one]) => word.endsWith(one)) ?? [];
      return word.slice(0, word.length - ending.length) + own;
    })
    .join(" ");
}

/** What is written to the name without a space, as `~s län` to `Stockholm`. */
function glued(word: string): string | undefined {
  return word.startsWith("~") ? word.slice(1) : undefined;
}

/** Whether an English name ends as an ending of another script does. */
function endsLike(english: string, ending: string, toAscii: Names["toAscii"]): boolean {
  return toAscii(english).toLowerCase().endsWith(toAscii(ending).toLowerCase());
}

function standsAlone(
  rest: string,
  { key, english, world }: { key: string; english: string; world: Names },
): boolean {
  const { locale, words, sharesOnset, toAscii } = world;
  if (words === undefined || /^\p{Ll}|^$/u.test(rest)) return false;
  if (isEnglishTitle(rest, english, countryOfRegion(key))) return false;
  if (UNSPACED.has(locale) && HALF_WORD.test(rest)) return false;
  const isChinese = locale.startsWith("zh") && countryOfRegion(key) === CHINA;
  if (isChinese || (UNHEARD.get(locale)?.test(rest) && nameWords(english).length > 0)) return true;
  const isInflected = (word: string) =>
    words.inflected.some((one) => word.endsWith(one) && !endsLike(english, one, toAscii));
  if (isInflected(rest) || (words.nominative.length > 0 && rest.split(" ").some(isInflected)))
    return false;
  return isWhole(rest, english, world) && sharesOnset(rest, english);
}

/** Whether a name does not begin with an adjective of the word before: `Metropolitana de Santiago`. */
function isWhole(rest: string, english: string, { words, toAscii }: Names): boolean {
  const [first = "", ...others] = rest.split(" ");
  const isLinked = words?.links.includes(others[0] ?? "") ?? false;
  const isJoined = others.some(
    (word, at) => AND.has(word) && words?.links.includes(others[at + 1] ?? ""),
  );
  return !isJoined && (!isLinked || foldText(toAscii(english)).includes(foldText(first)));
}
