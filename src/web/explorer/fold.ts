/** Letters that Unicode does not decompose, as people type them without their keyboard. */
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

/** Lower case without accents, with single spaces between words: the form in which search compares. */
export function foldText(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøđðþłħıŋə]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/['’ʻʼ`´]/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
