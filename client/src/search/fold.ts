/** Letters that Unicode does not decompose, with their usual ASCII spelling. */
const PLAIN_LETTERS: { readonly [letter: string]: string } = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ə: "e",
};

/** The dots of an abbreviation: `D.C.` is one word. */
const INITIALS = /(?<![\p{L}\p{N}])\p{L}(?:\.\p{L})+(?![\p{L}\p{N}])/gu;

/** Folds a text for search: lower case, no accents, single spaces between words. */
export function foldForSearch(text: string): string {
  const lower = isAscii(text) ? text.toLowerCase() : withoutAccents(text);
  return lower
    .replaceAll(INITIALS, (initials) => initials.replaceAll(".", ""))
    .replaceAll(/['’ʻʼ`´]/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Most names have no other letters, and are folded in half the time. */
function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function withoutAccents(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøđðþłħıŋə]/g, (letter) => PLAIN_LETTERS[letter] ?? letter);
}
