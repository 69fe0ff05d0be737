import { foldForSearch } from "./fold.ts";

/** Words for an airport, in the languages of many travellers. */
const AIRPORT_WORDS = folded(`
  airport airports intl flughafen flughäfen airfield aeropuerto aeropuertos aeroporto aeroporti
  aeroportos aéroport aéroports luchthaven luchthavens vliegveld lufthavn flyplass flygplats
  lentoasema lentokenttä lotnisko lotniska letiště letisko letališče repülőtér aerodrom havalimanı
  havaalanı bandara αεροδρόμιο аэропорт аеропорт летище 空港 机场 機場 공항 مطار فرودگاه สนามบิน`);

/** Words that only join others, in the same languages. */
const JOINING_WORDS = folded(`
  in of the near at to from and all in im am bei nach von en de del des du di da do em el le i w na`);

/** Words for an island and for a terminal, which travellers add to names that lack them. */
const ADDED_WORDS = folded(`
  île îles isla islas isola isole ilha ilhas illa insel inseln eiland eilanden island islands isle
  ø øen saari saaret wyspa wyspy ostrov ostrovy остров острова острів νησί νήσος ada adası pulau đảo
  جزيرة جزر terminal terminals terminus терминал gate`);

/** Whether a place need not have a word if no place has all others beside it. */
export function isAdded(word: string): boolean {
  return ADDED_WORDS.has(word) || /^\p{N}+$/u.test(word);
}

/** Chinese and Japanese write the word for an island, a city or a province onto its name. */
const JOINED_KIND = /(?<=[\p{Script=Han}\p{Script=Katakana}ー]{2})[島岛市県縣省府都區区]$/u;

/** Takes such a word from a name. */
export function withoutKind(word: string): string {
  return word.replace(JOINED_KIND, "");
}

/** What a word that a name lacks means in a query. */
export type SmallWord = "airport" | "joining";

/** Tells which words a place need not have. */
export function smallWord(word: string): SmallWord | undefined {
  if (AIRPORT_WORDS.has(word)) return "airport";
  return JOINING_WORDS.has(word) ? "joining" : undefined;
}

/** Words that are written differently for one, with the shortest spelling. */
const SPELLINGS = new Map([
  ["airports", "airport"],
  ["mount", "mt"],
  ["fort", "ft"],
]);
const LONG_SPELLING =
  /(?<![^ ])(?:saint|sainte|ste|sankt|sint|szent|sveti|airports|mount|fort)(?![^ ])/g;

/** Spells a folded text the shortest: `saint` and `sint` become `st`. */
export function respell(text: string): string {
  return text.replace(LONG_SPELLING, (word) => SPELLINGS.get(word) ?? "st");
}

/** Folded texts, each in both spellings. */
export function withSpellings(texts: readonly string[]): string[] {
  const spellings = new Set(texts);
  for (const text of texts) spellings.add(respell(text));
  return [...spellings];
}

/** Japanese, Chinese and Korean write the word for an airport onto its name. */
const JOINED_AIRPORT = new RegExp(
  `(?<=[^ ])(?:${["国際", "國際", "国际", "국제"].map(foldForSearch).join("|")})?` +
    `(${["空港", "机场", "機場", "공항"].map(foldForSearch).join("|")})$`,
  "u",
);

/** So many characters and words of a query count. */
export const LENGTH_MAX = 80;
const WORDS_MAX = 8;

/** Folds what is typed and parts it into words. */
export function foldQuery(typed: string): string {
  const text = foldForSearch(typed.slice(0, LENGTH_MAX)).replace(JOINED_AIRPORT, " $1");
  return text.split(" ").slice(0, WORDS_MAX).join(" ");
}

const DENSE_SCRIPT = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Whether the beginning of a word tells enough to find a name in another language by it. */
export function isTelling(beginning: string): boolean {
  return beginning.length >= (DENSE_SCRIPT.test(beginning) ? 2 : 4);
}

function folded(words: string): ReadonlySet<string> {
  return new Set(foldForSearch(words).split(" "));
}
