import anyAscii from "any-ascii";
import { foldText } from "../../src/catalog/fold.ts";
import { spellingOf } from "../../src/catalog/spellings.ts";

/** Scripts whose transliteration a reader of the language recognizes; 北海道 would become "beihaidao". */
const READABLE =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]+$/u;

const LATIN = /\p{Script=Latin}/u;

/**
 * A localized name as a slug, or an empty string when its script has no readable transliteration.
 * Apostrophes separate words in Latin script; elsewhere they stand for soft or aspirated sounds and are dropped.
 * Letters are lower-cased by Unicode's rules for all languages, so Turkish `İ` and `I` both become `i`.
 */
export function transliterate(name: string, locale: string): string {
  const composed = name.normalize("NFC");
  if (!READABLE.test(composed)) return "";
  let text = composed.toLowerCase().replaceAll("i\u0307", "i");
  for (const [letters, ascii] of spellingOf(locale)) text = text.replaceAll(letters, ascii);
  const ascii = anyAscii(text);
  return foldText(LATIN.test(composed) ? ascii : ascii.replace(/['’`]/gu, ""));
}
