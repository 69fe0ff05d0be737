/** Folds names to ASCII. Pure and frozen: ids of cities and published slugs derive from the results. */

/** Letters that NFKD does not decompose, with their usual ASCII spelling. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["ł", "l"],
  ["đ", "d"],
  ["ð", "d"],
  ["þ", "th"],
  ["ħ", "h"],
  ["ŧ", "t"],
  ["ŋ", "n"],
  ["ı", "i"],
  ["ĸ", "k"],
  ["ə", "e"],
  ["ɛ", "e"],
  ["ɔ", "o"],
  ["ɓ", "b"],
  ["ɗ", "d"],
  ["ƙ", "k"],
]);

/**
 * Folds a name to `[a-z0-9]` words joined by single hyphens: `São Tomé` is `sao-tome`.
 *
 * Empty when the name has no letter or digit that folds to ASCII (`北海道`).
 * Idempotent. Independent of the runtime's locale.
 */
export function foldText(text: string): string {
  const decomposed = text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const spelled = decomposed.replace(/\P{ASCII}/gu, (letter) => LETTERS.get(letter) ?? letter);
  return spelled.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

/** Normalizes to NFC, trims, and collapses white space to single spaces. */
export function tidy(text: string): string {
  return text.normalize("NFC").replace(/\s+/gu, " ").trim();
}
