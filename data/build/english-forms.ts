import { foldText } from "../../src/catalog/fold.ts";
import { directionOf, isKind, isLink } from "./region-names.ts";

/** A word of an English name. */
export interface EnglishWord {
  readonly word: string;
  /** What a translation of it means: the word, or `=NW` of one for a direction. */
  readonly concept: string;
  /** Whether it says only what kind of region it is. */
  readonly isKind: boolean;
  /** `N`, `SE`, `C`, `U` (upper), `L` (lower); empty if it is none. */
  readonly direction: string;
}

/** An English name as names of other languages are compared with it. */
export interface EnglishForm {
  readonly words: readonly EnglishWord[];
  /** The words that say which region it is, without spaces. */
  readonly content: string;
  /** The same with articles and the like. */
  readonly linked: string;
  /** The concepts of these words: names that mean the same have the same. */
  readonly meaning: string;
}

/** Letters without spaces: `western greece` as `westerngreece`. */
export function joinWords(words: readonly EnglishWord[]): string {
  return words.map(({ word }) => word).join("");
}

/** Words that tell what a region is in English, and that other languages leave out: Basque Country. */
const LEFT_OUT: ReadonlySet<string> = new Set(["country", "quarter"]);

function englishWord(word: string): EnglishWord {
  const direction = directionOf(word);
  return {
    word,
    concept: direction ? `=${direction}` : word,
    isKind: isKind(word) || LEFT_OUT.has(word),
    direction,
  };
}

/** `north west` as the one word that it is in other names. */
function withJoinedDirections(words: readonly EnglishWord[]): EnglishWord[] {
  const joined: EnglishWord[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before && /^[NS]$/u.test(before.direction) && /^[EW]$/u.test(word.direction)) {
      const direction = before.direction + word.direction;
      joined.splice(-1, 1, {
        word: before.word + word.word,
        concept: `=${direction}`,
        isKind: false,
        direction,
      });
    } else joined.push(word);
  }
  return joined;
}

/** An English name of a region, without what stands in brackets. A name of kinds alone has them as content. */
export function englishForm(name: string): EnglishForm {
  const parts = foldText(name.replace(/\s*\([^)]*\)$/u, ""))
    .split("-")
    .filter(Boolean);
  const all = withJoinedDirections(parts.filter((part) => !isLink(part)).map(englishWord));
  const isNamed = all.some((word) => !word.isKind);
  const words = isNamed ? all : all.map((word) => ({ ...word, isKind: false }));
  const content = words.filter((word) => !word.isKind);
  return {
    words,
    content: joinWords(content),
    linked: parts.filter((part) => !isNamed || !isKind(part) || isLink(part)).join(""),
    meaning: content.map(({ concept }) => concept).join(" "),
  };
}
