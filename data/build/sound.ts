import { nameWords } from "./region-names.ts";

/** Consonants that languages write for one another, and double ones. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[cgjqx]/gu, "k"],
  [/(.)\1+/gu, "$1"],
  [/z/gu, "s"],
  [/d/gu, "t"],
  [/p/gu, "b"],
  [/m/gu, "n"],
  [/r/gu, "l"],
];

/** Consonants that many longer words have somewhere: these must begin a word. */
const FEW = 2;

/** The consonants of a word in Latin letters: languages agree on them more than on vowels. */
function consonants(word: string): string {
  const letters = word.toLowerCase().replace(/[^a-z]|[aeiouhwy]/gu, "");
  return ALIKE.reduce((text, [letter, other]) => text.replace(letter, other), letters);
}

/** The consonants of a word, with one letter for those that many scripts do not tell from b and p. */
function withoutFricatives(word: string): string {
  return consonants(word).replace(/[fv]/gu, "b");
}

/** How languages in Latin letters write sounds that English writes otherwise. */
const SPELLINGS: ReadonlyMap<string, readonly (readonly [RegExp, string])[]> = new Map([
  [
    "de",
    [
      [/j/giu, "y"],
      [/dsch/giu, "j"],
      [/tsch/giu, "ch"],
      [/sch/giu, "sh"],
      [/w/giu, "v"],
    ],
  ],
  [
    "it",
    [
      [/j/giu, "y"],
      [/h/giu, "kh"],
    ],
  ],
  [
    "pl",
    [
      [/j/giu, "y"],
      [/cz/giu, "ch"],
      [/sz/giu, "sh"],
      [/dż/giu, "j"],
      [/w/giu, "v"],
    ],
  ],
  ["tr", [[/h/giu, "kh"]]],
]);

/** A name in the letters that English has for its sounds: `Tscheljabinsk` as `Cheljabinsk`. */
export function inEnglishSpelling(name: string, locale: string): string {
  const spellings = SPELLINGS.get(locale) ?? [];
  return spellings.reduce((text, [letters, own]) => text.replace(letters, own), name);
}

/** Compares names in any language with English ones by ear. */
export interface Sounds {
  /** Whether a name sounds like an English one, all words of it. */
  readonly soundsLike: (name: string, english: string) => boolean;
  /** Whether a name has a word that sounds like one of the English name. */
  readonly sharesSound: (name: string, english: string) => boolean;
  /** Whether a name has a word that begins like one of the English name, or has its beginning inside. */
  readonly sharesOnset: (name: string, english: string) => boolean;
}

/** Compares names by their consonants; `toAscii` writes any script in Latin letters. */
export function makeSounds(toAscii: (name: string) => string): Sounds {
  const heardWords = (name: string, english: string): boolean[] => {
    const heard = toAscii(name)
      .split(/[\s-]+/u)
      .map(consonants);
    return nameWords(english)
      .map(consonants)
      .filter((sound) => sound !== "")
      .map((sound) =>
        heard.some((word) => (sound.length > FEW ? word.includes(sound) : word.startsWith(sound))),
      );
  };
  const sharesOnset = (name: string, english: string): boolean => {
    const heard = toAscii(name)
      .split(/[\s-]+/u)
      .map(withoutFricatives);
    return nameWords(english)
      .map(withoutFricatives)
      .filter((sound) => sound !== "")
      .some((sound) =>
        heard.some(
          (word) =>
            word.startsWith(sound.slice(0, FEW)) ||
            (sound.length > FEW && word.includes(sound.slice(0, FEW + 1))),
        ),
      );
  };
  return {
    sharesOnset,
    soundsLike: (name, english) => {
      const words = heardWords(name, english);
      return words.length > 0 && words.every((heard) => heard);
    },
    sharesSound: (name, english) => heardWords(name, english).includes(true),
  };
}
