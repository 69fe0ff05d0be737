import type { EnglishForm, EnglishWord } from "./english-forms.ts";
import { isKind } from "./region-names.ts";
import type { HeadWords } from "./plain-names.ts";
import { UNSPACED } from "./plain-names.ts";

/** A name of a region in a locale, and the English one. */
export interface NamePair {
  readonly name: string;
  readonly english: EnglishForm;
}

/** What is left of two names when words that mean the same are taken from both. */
export interface Reading {
  /** What is left of the name's words. */
  readonly rest: readonly string[];
  /** What is left of the English ones, without those for the kind of region. */
  readonly left: readonly EnglishWord[];
  /** The log-likelihood ratio of the words that were taken; 0 if there were none. */
  readonly score: number;
}

/** The words of a locale's names, and what they mean. */
export interface Vocabulary {
  /** The words of a name, in lower case, without what stands in brackets. */
  readonly words: (name: string) => string[];
  /** The same without those for the kind of region, articles and the like; all if there are no others. */
  readonly body: (name: string) => string[];
  /** Takes the words that mean the same from a name and an English one. */
  readonly read: (words: readonly string[], english: Pick<EnglishForm, "words">) => Reading;
  /** The direction that a word or its beginning means, as in {@link EnglishWord}; undefined if none. */
  readonly directionOf: (word: string) => string | undefined;
  /** Whether the locale's names have a word for a concept. */
  readonly knows: (concept: string) => boolean;
  /** Whether a word says only what kind of region it is. */
  readonly isHead: (word: string) => boolean;
  /** Whether a name begins or ends with a word, or a part of one, that many names share and no English word explains. */
  readonly hasHead: (name: string) => boolean;
  /** A word without an ending that many others have. */
  readonly stem: (word: string) => string;
  /** Words that were found to stand with names that have nothing in common. */
  readonly foundHeads: ReadonlySet<string>;
  /** These are names after all: `isHead` is no longer true of them. */
  readonly dropHeads: (words: Iterable<string>) => void;
}

/** Between words; `・` and the like stand between those of foreign names. */
const SEPARATORS = /[\s\-‐–—・,،，.'’/＝－·]+/u;
const BRACKETED = /\s*[(（][^()（）]*[)）]/gu;

/** A piece of a word means what its regions have in common if it is in so many of them, */
const MIN_NAMES = 3;
/** if so large a share of them have it, */
const MIN_SHARE = 0.5;
/** and a larger one for the shortest pieces and for directions that rule others out. */
const MIN_SHARE_OF_SHORT = 0.7;
const MIN_NAMES_OF_DIRECTION = 4;
/** A word that so many names have, of whose regions no larger share has something in common, says what kind they are. */
const MAX_SHARE_OF_HEAD = 0.4;
/** The same of what begins or ends words where names have no spaces. */
const MIN_NAMES_OF_AFFIX = 8;
const MAX_SHARE_OF_AFFIX = 0.45;
const MIN_SHARE_AT_END = 0.8;
/** Shorter ones are articles and the like, with which names may begin. */
const MIN_HEAD = 4;
const MIN_THAI_HEAD = 6;
/** Endings of words: so long, and on so many names. */
const ENDING_LENGTHS = [5, 4, 3, 2];
const MIN_NAMES_OF_ENDING = 12;
const ENDING_SHARE = 0.01;
const MIN_STEM = 3;
/** At most so much counts that a rare word was translated, and so much a word for the kind. */
const MAX_SCORE = 6;
const KIND_SCORE = 0.5;

function shortestPiece(word: string): number {
  if (/[\p{Script=Han}\p{Script=Hangul}]/u.test(word)) return 1;
  return /\p{Script=Katakana}/u.test(word) ? 2 : 3;
}

/** A word, its beginnings and its ends. */
function piecesOf(word: string): string[] {
  const pieces = [word];
  for (let length = shortestPiece(word); length < word.length; length++)
    pieces.push(word.slice(0, length), word.slice(-length));
  return pieces;
}

class Counts extends Map<string, number> {
  add(key: string): void {
    this.set(key, this.of(key) + 1);
  }
  of(key: string): number {
    return this.get(key) ?? 0;
  }
}

/** The concepts of an English name; those of `NW` are its two directions as well. */
function conceptsOf({ words }: EnglishForm): Set<string> {
  return new Set(
    words.flatMap(({ concept, direction }) =>
      direction.length === 2 ? [concept, ...directionsIn(direction)] : [concept],
    ),
  );
}

function directionsIn(direction: string): string[] {
  return [...direction].map((one) => `=${one}`);
}

/** What the pieces of a locale's names mean, by the English names of the regions that have them. */
class Meanings {
  readonly #names: readonly NamePair[];
  readonly #pieces = new Counts();
  readonly #concepts = new Counts();
  readonly #together = new Map<string, Counts>();
  readonly #translations = new Map<string, string[]>();
  readonly #directions = new Map<string, string>();

  constructor(names: readonly NamePair[], wordsOf: (name: string) => string[]) {
    this.#names = names;
    for (const { name, english } of names) {
      const concepts = conceptsOf(english);
      for (const concept of concepts) this.#concepts.add(concept);
      for (const piece of new Set(wordsOf(name).flatMap(piecesOf))) {
        this.#pieces.add(piece);
        const together = this.#together.get(piece) ?? new Counts();
        for (const concept of concepts) together.add(concept);
        this.#together.set(piece, together);
      }
    }
    this.#findTranslations();
  }

  #findTranslations(): void {
    const strengths = new Map<string, Map<string, number>>();
    for (const [piece, names] of this.#pieces) {
      for (const [concept, common] of this.#together.get(piece) ?? []) {
        if (!isTranslation({ piece, concept, names, common })) continue;
        const strength = common ** 2 / names / this.#concepts.of(concept);
        strengths.set(
          concept,
          (strengths.get(concept) ?? new Map<string, number>()).set(piece, strength),
        );
        const isSure = common / names >= MIN_SHARE_OF_SHORT && names >= MIN_NAMES_OF_DIRECTION;
        const longer = concept.length > (this.#directions.get(piece) ?? "").length + 1;
        if (concept.startsWith("=") && isSure && longer)
          this.#directions.set(piece, concept.slice(1));
      }
    }
    for (const [concept, pieces] of strengths)
      this.#translations.set(
        concept,
        [...pieces]
          .toSorted(([a, x], [b, y]) => y - x || b.length - a.length)
          .map(([piece]) => piece),
      );
  }

  /** The pieces that mean a concept, the surest first. */
  translations(concept: string): readonly string[] {
    return this.#translations.get(concept) ?? [];
  }

  direction(piece: string): string | undefined {
    return this.#directions.get(piece);
  }

  /** Whether no larger share of the names with a piece has a concept in common, save kinds of regions. */
  isOfMany(piece: string, maxShare: number): boolean {
    const names = this.#pieces.of(piece);
    return ![...(this.#together.get(piece) ?? [])].some(
      ([concept, common]) => common / names >= maxShare && !isKind(concept),
    );
  }

  names(piece: string): number {
    return this.#pieces.of(piece);
  }

  scoreOf(concept: string): number {
    return Math.min(
      MAX_SCORE,
      Math.log(this.#names.length / Math.max(1, this.#concepts.of(concept))),
    );
  }
}

/** Whether a piece that is in so many names means a concept that so many of them have in common. */
function isTranslation(found: {
  readonly piece: string;
  readonly concept: string;
  readonly names: number;
  readonly common: number;
}): boolean {
  const { piece, concept, names, common } = found;
  const isShortest = piece.length === shortestPiece(piece) && !/\p{Script=Han}/u.test(piece);
  const isCompound = /^=[NS][EW]$/u.test(concept) && piece.length > 4;
  if (isCompound && common >= 2 && common === names) return true;
  return common >= MIN_NAMES && common / names >= (isShortest ? MIN_SHARE_OF_SHORT : MIN_SHARE);
}

/** Learns the words of a locale from its names; most of these are right. */
export function learnVocabulary(
  locale: string,
  names: readonly NamePair[],
  headWords: HeadWords | undefined,
): Vocabulary {
  const lower = (text: string) => text.toLocaleLowerCase(locale);
  const wordsOf = (name: string) =>
    lower(name.replace(BRACKETED, "")).split(SEPARATORS).filter(Boolean);
  const meanings = new Meanings(names, wordsOf);
  const isSpaced = !UNSPACED.has(locale);
  const isAtStart = locale === "th";

  const inWords = new Counts();
  for (const { name } of names) for (const word of new Set(wordsOf(name))) inWords.add(word);
  const given = [...(headWords?.before ?? []), ...(headWords?.after ?? [])];
  const heads = new Set(given.map((word) => lower(word.replace(/^~/u, ""))));
  const links = new Set((headWords?.links ?? []).map((word) => lower(word.replace(/['’]$/u, ""))));
  const foundHeads = new Set(
    [...inWords.keys()].filter(
      (word) =>
        inWords.of(word) >= MIN_NAMES &&
        !heads.has(word) &&
        meanings.isOfMany(word, MAX_SHARE_OF_HEAD),
    ),
  );
  for (const word of foundHeads) heads.add(word);
  const affixes = isSpaced ? [] : [...heads];
  affixes.sort((a, b) => b.length - a.length);
  const foundAffixes = isSpaced ? [] : findAffixes();
  affixes.push(...foundAffixes);
  affixes.sort((a, b) => b.length - a.length);
  const endings = isSpaced ? findEndings() : [];

  /** What begins or ends the words of many names that have nothing else in common. */
  function findAffixes(): string[] {
    const ends = new Counts();
    for (const { name } of names) {
      const pieces = wordsOf(name)
        .flatMap((word) => [word, withoutAffix(word)])
        .flatMap((word) =>
          Array.from({ length: word.length - 1 }, (_, at) =>
            isAtStart ? word.slice(0, at + 1) : word.slice(at + 1),
          ),
        );
      for (const piece of new Set(pieces)) ends.add(piece);
    }
    return [...ends.keys()].filter(
      (piece) =>
        ends.of(piece) >= MIN_NAMES_OF_AFFIX &&
        piece.length >= shortestPiece(piece) &&
        ends.of(piece) >= MIN_SHARE_AT_END * meanings.names(piece) &&
        meanings.isOfMany(piece, MAX_SHARE_OF_AFFIX),
    );
  }

  function findEndings(): string[] {
    const ends = new Counts();
    for (const { name } of names)
      for (const word of new Set(wordsOf(name)))
        for (const length of ENDING_LENGTHS)
          if (word.length >= length + MIN_STEM) ends.add(word.slice(-length));
    const enough = Math.max(MIN_NAMES_OF_ENDING, names.length * ENDING_SHARE);
    return [...ends.keys()]
      .filter((ending) => ends.of(ending) >= enough)
      .toSorted((a, b) => b.length - a.length);
  }

  function withoutAffix(word: string): string {
    const affix = affixes.find(
      (one) => one.length < word.length && (isAtStart ? word.startsWith(one) : word.endsWith(one)),
    );
    if (affix === undefined) return word;
    return isAtStart ? word.slice(affix.length) : word.slice(0, -affix.length);
  }

  /** Takes the first word that is a translation of a concept, or the part of it that is one. */
  function take(rest: string[], pieces: readonly string[]): boolean {
    for (const piece of pieces)
      for (const [at, word] of rest.entries()) {
        const isPart = piece.length >= shortestPiece(piece);
        if (word === piece) rest.splice(at, 1);
        else if (isPart && word.startsWith(piece)) {
          const end = word.slice(piece.length);
          if (isSpaced && (end.length <= 3 || endings.includes(end))) rest.splice(at, 1);
          else rest[at] = end;
        } else if (isPart && word.endsWith(piece)) rest[at] = word.slice(0, -piece.length);
        else continue;
        return true;
      }
    return false;
  }

  /** Takes a direction such as NW as one word, or as its two. */
  function takeDirection(rest: string[], { concept, direction }: EnglishWord): boolean {
    const whole = meanings.translations(concept);
    if (direction.length < 2) return take(rest, whole);
    const exact = whole.filter((piece) => meanings.direction(piece) === direction);
    if (take(rest, exact)) return true;
    const before = [...rest];
    if (directionsIn(direction).every((one) => take(rest, meanings.translations(one)))) return true;
    rest.splice(0, rest.length, ...before);
    return take(rest, whole);
  }

  return {
    words: wordsOf,
    body: (name) => {
      const words = wordsOf(name);
      const rest = words.filter((word) => !heads.has(word) && !links.has(word)).map(withoutAffix);
      return rest.length > 0 ? rest : words;
    },
    read: (words, { words: englishWords }) => {
      const rest = [...words];
      const left: EnglishWord[] = [];
      let score = 0;
      for (const word of englishWords) {
        if (takeDirection(rest, word))
          score += word.isKind ? KIND_SCORE : meanings.scoreOf(word.concept);
        else if (!word.isKind) left.push(word);
      }
      const isPart = (word: string) => heads.has(word) && !words.includes(word);
      return { rest: rest.filter((word) => !isPart(word)), left, score };
    },
    directionOf: (word) =>
      piecesOf(word)
        .map((piece) => meanings.direction(piece))
        .find((direction) => direction !== undefined),
    knows: (concept) => meanings.translations(concept).length > 0,
    isHead: (word) => heads.has(word),
    hasHead: (name) => {
      const words = wordsOf(name);
      if (isSpaced)
        return [words.at(0) ?? "", words.at(-1) ?? ""].some(
          (word) => word.length >= MIN_HEAD && heads.has(word),
        );
      return (
        isAtStart &&
        words.some((word) =>
          affixes.some((one) => one.length >= MIN_THAI_HEAD && word.startsWith(one)),
        )
      );
    },
    stem: (word) => {
      const ending = endings.find(
        (one) => word.length - one.length >= MIN_STEM && word.endsWith(one),
      );
      return ending === undefined ? word : word.slice(0, -ending.length);
    },
    foundHeads,
    dropHeads: (words) => {
      for (const word of words) heads.delete(word);
    },
  };
}
