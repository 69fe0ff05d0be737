/**
 * Letters, and what is written for them where a keyboard, a passport or another language lacks them:
 * German and the Nordic languages, Serbian and Croatian, Turkish, Czech and Slovak, Spanish and
 * Catalan, Icelandic. `foldForSearch` takes the marks away; this is the other spelling.
 */
const DIGRAPHS: { readonly [letter: string]: string } = {
  å: "aa",
  ä: "ae",
  ö: "oe",
  ø: "oe",
  ü: "ue",
  đ: "dj",
  ð: "dh",
  š: "sh",
  ş: "sh",
  ș: "sh",
  ț: "ts",
  ţ: "ts",
  č: "ch",
  ç: "ch",
  ž: "zh",
  ğ: "gh",
  ñ: "ny",
};
const LETTERS = new RegExp(`[${Object.keys(DIGRAPHS).join("")}]`, "g");
const BOTH = new RegExp(
  `${LETTERS.source}|${[...new Set(Object.values(DIGRAPHS))].join("|")}`,
  "g",
);

/** So many letters of a text are read in both ways. */
const READ_MAX = 5;

/**
 * Spells a text in all ways that its letters allow, its own left out: `aarhus` for `århus`. With
 * `isUnknown`, also the letters for which two are written: `malmo` for `malmoe`, `aero` for `äroe`.
 */
export function otherSpellings(text: string, isUnknown: boolean): string[] {
  const typed = text.normalize("NFC").toLowerCase();
  const found = [...typed.matchAll(isUnknown ? BOTH : LETTERS)].slice(0, READ_MAX);
  let spellings = [""];
  let end = 0;
  for (const { 0: letters, index } of found) {
    const before = typed.slice(end, index);
    const both = [letters, DIGRAPHS[letters] ?? letters.charAt(0)];
    spellings = spellings.flatMap((start) => both.map((one) => start + before + one));
    end = index + letters.length;
  }
  return spellings.slice(1).map((start) => start + typed.slice(end));
}
