/** Cleans the texts that OurAirports' editors write, or refuses them. Pure. */
import { tidy } from "../catalog/fold.ts";

/** Text in brackets, closed or not. */
const BRACKETS = /[([{][^()[\]{}]*(?:[)\]}]|$)/gu;

/** Notes of OurAirports' editors, in any case. */
const STATE_NOTE =
  /^.\s*(?:duplicate|unusable|closed|abandoned|disused|inactive|under construction|u\.?\s?c\.?)(?:[^\p{L}\d]|$)/iu;

/** The mark of a row that the editors want to delete. */
const DELETION_MARK = /(?<!\p{L})XXX(?!\p{L})/gu;

/** Removes notes such as "(unusable)" and repetitions in another script from a clean name. */
export function withoutNotes(name: string): string {
  return tidy(withoutOtherScript(withoutStateNotes(name)));
}

/** Removes a repetition of the name in a non-Latin script, after a dash or slash. */
function withoutOtherScript(name: string): string {
  const latinEnd = /^.*\p{Script=Latin}/su.exec(name)?.[0].length ?? 0;
  const dash = name.slice(latinEnd).search(/\s[-–/]\s/u);
  const end = latinEnd + dash;
  return dash === -1 || !/\p{L}/u.test(name.slice(end)) ? name : name.slice(0, end);
}

function withoutStateNotes(name: string): string {
  return name
    .replace(BRACKETS, (text) => (STATE_NOTE.test(text) ? " " : text))
    .replace(DELETION_MARK, " ");
}

/** Whether a name says that the airport is not in use. */
export function hasStateNote(name: string): boolean {
  return withoutStateNotes(name) !== name;
}

/** Longest text that is served, in characters. The longest name of upstream has 89. */
const TEXT_MAX_CHARACTERS = 120;
/** Markup, controls, directions of writing, invisible and private characters, symbols, emoji. */
const FORBIDDEN =
  /[<>\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Extended_Pictographic}\u20e3]|(?![°№])\p{So}|\p{M}{4}/u;
const WEB_ADDRESSES = [
  /:\/\/|@|\bhttps?\b|\bwww\.|\.com\b/iu,
  /[\p{L}\d-]{2}\.(?:net|org|info|biz|shop|online)\b/iu,
  /[\p{L}\d-]\.\p{L}{2,}\//u,
];
/** No name has a point before a small letter, as `taxi.example` has. */
const DOMAIN = /[\p{L}\d-]{2}\.\p{Ll}{2}/u;

/** Whether a clean text may be served: empty or with a letter, without markup, emoji or web address. */
export function isServable(text: string): boolean {
  return (
    text.length <= TEXT_MAX_CHARACTERS &&
    (text === "" || /\p{L}/u.test(text)) &&
    ![FORBIDDEN, ...WEB_ADDRESSES, DOMAIN].some((pattern) => pattern.test(text))
  );
}

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const ACRONYMS = wordSet(
  "AAF AFB AFS ARB EAA FOB IBM ITT KLIA LNG MCAS NAF NALF NAS NASA PLA RAAF RAF RCAF RNAS SAAF UAE UK US USA USAF",
);
/** Abbreviations without a vowel that are no acronyms. */
const ABBREVIATIONS = wordSet("DR FR FT JR MC MR MT MTN PT SR ST STN");
/** Words that are small within a name. */
const SMALL_WORDS = wordSet(
  "AL AM AN AND DA DAS DE DEI DEL DELLA DER DES DI DO DOS DU E EL EN ET LA LAS LE LES LOS OF ON SUR THE UND Y",
);

/** Rewrites a text in capitals in title case. Acronyms and Roman numerals stay: `RAF`, `JFK`, `XXIII`. */
export function withoutCapitals(text: string): string {
  if (/\p{Ll}/u.test(text) || !/\p{Lu}{5}/u.test(text)) return text;
  return text.replace(/[\p{L}\p{M}'’]+/gu, (word, at: number) => {
    if (ACRONYMS.has(word) || /^[IVX]+$/u.test(word)) return word;
    if (/^[B-DF-HJ-NP-TV-XZ]{2,4}$/u.test(word) && !ABBREVIATIONS.has(word)) return word;
    // Lower-casing the Turkish İ adds a combining dot.
    const small = word.toLowerCase().replaceAll("i\u0307", "i");
    if (at > 0 && SMALL_WORDS.has(word)) return small;
    // O'Hare and D'Annunzio, but Yar'adua.
    return small.replace(/^\p{L}['’]?\p{L}?/u, (start) =>
      /['’]/u.test(start) ? start.toUpperCase() : start.charAt(0).toUpperCase() + start.slice(1),
    );
  });
}
