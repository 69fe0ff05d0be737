import anyAscii from "any-ascii";
import { foldText } from "../../src/catalog/fold.ts";

/** Scripts whose transliteration a reader of the language recognizes; 北海道 would become "beihaidao". */
const READABLE =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]+$/u;

const LATIN = /\p{Script=Latin}/u;

type Spelling = readonly (readonly [letters: string, ascii: string])[];

const GERMAN: Spelling = [
  ["ä", "ae"],
  ["ö", "oe"],
  ["ü", "ue"],
  ["ß", "ss"],
];
const DANISH: Spelling = [
  ["æ", "ae"],
  ["ø", "oe"],
  ["å", "aa"],
];
const SERBIAN: Spelling = [
  ["љ", "lj"],
  ["њ", "nj"],
  ["џ", "dz"],
  ["ђ", "dj"],
  ["ј", "j"],
  ["ћ", "c"],
  ["ц", "c"],
  ["ч", "c"],
  ["ж", "z"],
  ["ш", "s"],
  ["х", "h"],
  ["ѓ", "gj"],
  ["ќ", "kj"],
  ["ѕ", "dz"],
];
const GREEK: Spelling = [
  ["ου", "ou"],
  ["αι", "ai"],
  ["ει", "ei"],
  ["οι", "oi"],
  ["αυ", "av"],
  ["ευ", "ev"],
  ["μπ", "b"],
  ["γγ", "ng"],
  ["η", "i"],
  ["υ", "y"],
  ["χ", "ch"],
  ["ψ", "ps"],
  ["ξ", "x"],
  ["ω", "o"],
  ["β", "v"],
  ["φ", "f"],
  ["θ", "th"],
];

/** How a language writes its own letters in ASCII, where that differs from any-ascii's answer for all languages. */
const SPELLINGS: Readonly<Record<string, Spelling>> = {
  de: GERMAN,
  da: DANISH,
  no: DANISH,
  tr: [["ı", "i"]],
  az: [
    ["ı", "i"],
    ["ə", "e"],
  ],
  el: GREEK,
  hy: [
    ["ու", "u"],
    ["և", "ev"],
  ],
  sr: SERBIAN,
  mk: SERBIAN,
  bg: [
    ["щ", "sht"],
    ["ъ", "a"],
    ["х", "h"],
    ["ц", "ts"],
    ["ж", "zh"],
    ["й", "y"],
    ["ю", "yu"],
    ["я", "ya"],
    ["ь", "y"],
  ],
  uk: [
    ["г", "h"],
    ["ґ", "g"],
    ["и", "y"],
    ["і", "i"],
    ["ї", "yi"],
    ["й", "y"],
    ["є", "ye"],
    ["ю", "yu"],
    ["я", "ya"],
    ["х", "kh"],
    ["щ", "shch"],
    ["ь", ""],
  ],
  be: [
    ["г", "h"],
    ["ў", "u"],
    ["і", "i"],
    ["х", "kh"],
    ["ь", ""],
  ],
  ru: [
    ["ь", ""],
    ["ъ", ""],
    ["х", "kh"],
    ["щ", "shch"],
    ["ё", "e"],
  ],
};

/**
 * A localized name as a slug, or an empty string when its script has no readable transliteration.
 * Apostrophes separate words in Latin script; elsewhere they stand for soft or aspirated sounds and are dropped.
 * Letters are lower-cased by Unicode's rules for all languages, so Turkish `İ` and `I` both become `i`.
 */
export function transliterate(name: string, locale: string): string {
  const composed = name.normalize("NFC");
  if (!READABLE.test(composed)) return "";
  let text = composed.toLowerCase().replaceAll("i\u0307", "i");
  if (locale === "el") text = text.normalize("NFD").replaceAll("\u0301", "").normalize("NFC");
  for (const [letters, ascii] of SPELLINGS[locale.split("-")[0] ?? ""] ?? [])
    text = text.replaceAll(letters, ascii);
  const ascii = anyAscii(text);
  return foldText(LATIN.test(composed) ? ascii : ascii.replace(/['’`]/gu, ""));
}
