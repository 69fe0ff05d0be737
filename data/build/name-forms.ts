import { foldText } from "../../src/catalog/fold.ts";
import { withCommaBelow } from "./city-names.ts";
import { isKind } from "./region-names.ts";
import type { Sounds } from "./sound.ts";

/** A bracket that nothing closes, at the end: `Baucau (municipalité`. */
const HALF_BRACKETED = /\s*[(（][^()（）]*$/u;

/** A space or a hyphen before a comma. */
const COMMA_APART = /[\s-]+,(?=\s)/gu;

/** A space on one side of a hyphen, but for one that stands for a word: `Kabard- és Balkárföld`. */
const HYPHEN_APART = /(?<=\S)\s-(?=\p{L})|(?<=[\p{L}\p{M}])-\s(?=[^\p{Ll}\s])/gu;

/** An apostrophe in a name, however it was typed. */
const APOSTROPHE = /(?<=[\p{L}\p{M}])\s?['‘]\s?(?=\p{L})/gu;

/** Quotation marks and apostrophes around a name. */
const QUOTED = /^["'’‘`´“”«»]+|\s*["'’‘`´“”«»]+$/gu;

/** Languages that write the letters of others with an apostrophe, even at the end: `Tver’`. */
const ROMANIZING: ReadonlySet<string> = new Set(["cs", "it"]);

/** Languages that write each word of a name with a capital letter, but those for its kind. */
const CAPITALIZING: ReadonlySet<string> = new Set(["sw", "tr", "uz", "vi"]);

/** The word "of" in other letters, of an English title that was spelled out: `Κάντον οφ Γκλάρους`. */
const OF =
  /^(.+?)\s(?:οφ|оф|օֆ|ოფ|אוף|أوف|آف|অফ|অব|ऑफ़?|ओफ़?|ઓફ|ઑફ|ఆఫ్|ఆప్|ಆಫ್|ஆஃப்|ஆப்|ඔෆ්|ออฟ|𑄃𑄧𑄛𑄴|𑄃𑄧𑄜𑄴)\s(.+)$/u;

/** An English name that has it, or the like in another language: Isle of Man, Rečica ob Savinji. */
const ENGLISH_OF = /\bo[bf]\b/u;

/** The country whose language ends a name with an s before its word for a region: `Stockholms län`. */
const SWEDEN = "SE";

/** An s at the end of a name, in the letters of all languages but those that end their own names with it. */
const GENITIVE = /(?:[sςсسסსսス스ส]|[सসસ]|[సಸ]్|ಸ್|ஸ்|ස්|𑄥𑄴)$/u;
const ENDING_WITH_S: ReadonlySet<string> = new Set(["lt", "lv"]);

/** What the English ending -ian became where an adjective was spelled out, and -ia in the same letters. */
const ADJECTIVES: readonly (readonly [RegExp, string])[] = [
  [/িয়ান(?![\p{L}\p{M}])/gu, "িয়া"],
  [/ियन(?![\p{L}\p{M}])/gu, "िया"],
  [/િ[યઅઆ]ા?ન(?![\p{L}\p{M}])/gu, "િયા"],
  [/ియన్(?![\p{L}\p{M}])/gu, "ియా"],
  [/ಿಯನ್(?![\p{L}\p{M}])/gu, "ಿಯಾ"],
  [/ியா?ன்(?![\p{L}\p{M}])/gu, "ியா"],
  [/ියන්/gu, "ියා"],
  [/𑄨𑄠𑄚𑄴/gu, "𑄨𑄠"],
];

/** A vowel sign that was typed twice, in the scripts of India and Sri Lanka. */
const TWICE =
  /([\u{93e}-\u{94c}\u{9be}-\u{9cc}\u{abe}-\u{acc}\u{bbe}-\u{bcc}\u{c3e}-\u{c4c}\u{cbe}-\u{ccc}\u{dcf}-\u{ddf}])\1+/gu;

/** Two vowel signs on one letter in those scripts: nobody can read them. */
export const TWO_VOWELS =
  /[\u{93e}-\u{94c}]{2}|[\u{9be}-\u{9cc}]{2}|[\u{abe}-\u{acc}]{2}|[\u{bbe}-\u{bcc}]{2}|[\u{c3e}-\u{c4c}]{2}|[\u{cbe}-\u{ccc}]{2}|[\u{dcf}-\u{ddf}]{2}/u;

/** Letters of other languages that look like a language's own, and these. */
const LETTERS: ReadonlyMap<string, readonly (readonly [RegExp, string])[]> = new Map([
  [
    "ar",
    [
      [/ک/gu, "ك"],
      [/ی/gu, "ي"],
    ],
  ],
  [
    "fa",
    [
      [/ك/gu, "ک"],
      [/[يى]/gu, "ی"],
    ],
  ],
  [
    "ur",
    [
      [/ك/gu, "ک"],
      [/[يى]/gu, "ی"],
    ],
  ],
  ["uz", [[/(?<=[og])[‘’ʼ'`]/giu, "ʻ"]]],
]);

/** Languages that have the letter ş themselves. */
const WITH_CEDILLA: ReadonlySet<string> = new Set(["az", "tr"]);

/** What a name is judged by. */
interface Region {
  readonly locale: string;
  readonly country: string;
  readonly english: string;
  /** Whether a language of its country has another script: an apostrophe may stand for a letter. */
  readonly isTransliterated: boolean;
  readonly soundsLike: Sounds["soundsLike"];
}

/**
 * A name without the grammar of a language that it was spelled from: the title before an English
 * "of", a Swedish genitive, and the adjective that English has before a word such as Voivodeship.
 */
export function withoutForeignGrammar(
  name: string,
  region: Omit<Region, "isTransliterated">,
): string {
  return asNoun(withoutGenitive(withoutTitle(name, region), region), region);
}

function withoutTitle(
  name: string,
  { english, soundsLike }: Pick<Region, "english" | "soundsLike">,
): string {
  const [, title = "", place] = OF.exec(name) ?? [];
  if (place === undefined || ENGLISH_OF.test(english)) return name;
  return soundsLike(title, english) ? title : place;
}

function withoutGenitive(
  name: string,
  { locale, country, english }: Pick<Region, "locale" | "country" | "english">,
): string {
  const isOwn = country !== SWEDEN || ENDING_WITH_S.has(locale) || english.endsWith("s");
  return isOwn ? name : name.replace(GENITIVE, "");
}

function asNoun(name: string, { english }: Pick<Region, "english">): string {
  if (!/ia(?!\p{L})/u.test(english) || /an(?!\p{L})/u.test(english)) return name;
  return ADJECTIVES.reduce((text, [adjective, noun]) => text.replaceAll(adjective, noun), name);
}

/**
 * A name without what cutting and gathering have left over: half a bracket, a mark of quotation or of
 * a genitive, a letter of another language, and small letters where its language has capitals.
 */
export function wellFormed(name: string, region: Region): string {
  const whole = (name.replace(HALF_BRACKETED, "") || name)
    .replaceAll(COMMA_APART, ",")
    .replaceAll(HYPHEN_APART, "-")
    .replaceAll(TWICE, "$1");
  const isOwn = region.isTransliterated && ROMANIZING.has(region.locale);
  const plain = isOwn ? whole : whole.replace(QUOTED, "");
  const own = inOwnLetters(plain, region.locale).replaceAll(APOSTROPHE, "’");
  const inLetters = WITH_CEDILLA.has(region.locale) ? own : withCommaBelow(own, region.country);
  return CAPITALIZING.has(region.locale) ? withCapitals(inLetters, region) : inLetters;
}

/** A name in the letters of its language where it was typed with those of another. */
export function inOwnLetters(name: string, locale: string): string {
  const letters = LETTERS.get(locale) ?? [];
  return letters.reduce((text, [other, letter]) => text.replaceAll(other, letter), name);
}

/** Words that begin and sound like one of the English name, other than its kind, get its capital letter. */
function withCapitals(name: string, { locale, english, soundsLike }: Region): string {
  const own = english
    .split(/[\s–-]+/u)
    .filter((word) => /^\p{Lu}/u.test(word) && !foldText(word).split("-").some(isKind));
  return name.replace(/(?<=[\s-])\p{Ll}{4,}/gu, (word) =>
    own.some((one) => soundsLike(word, one) && word.startsWith(one.slice(0, 1).toLowerCase()))
      ? word.slice(0, 1).toLocaleUpperCase(locale) + word.slice(1)
      : word,
  );
}
