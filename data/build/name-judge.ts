import { type EnglishForm, type EnglishWord, joinWords } from "./english-forms.ts";
import { learnHearing } from "./hearing.ts";
import { memoize } from "./memoize.ts";
import type { HeadWords } from "./plain-names.ts";
import { kindWords } from "./region-names.ts";
import { learnVocabulary, type NamePair, type Vocabulary } from "./vocabulary.ts";

/** A name in a locale, ready to be compared. */
export interface HeardName {
  readonly words: readonly string[];
  /** Without the words for the kind of region. */
  readonly body: readonly string[];
  /** What it may sound like in a-z, with fewer and fewer words and endings. */
  readonly sounds: readonly string[];
}

/** A comparison with an English name. */
interface Likeness {
  /** A log-likelihood ratio: above 0 if the names are likelier one than two. */
  readonly value: number;
  /** Which of the sounds had it; -1 for one with translated words. */
  readonly sound: number;
}

/** Compares names of one locale with English ones, by what its other names show. */
export interface NameJudge {
  readonly vocabulary: Vocabulary;
  /** @param country its name in the locale, which a name may have beside its own: Nord-Libanon. */
  readonly hear: (name: string, country?: string) => HeardName;
  /** @param sound only this one of the sounds. */
  readonly compare: (name: HeardName, english: EnglishForm, sound?: number) => Likeness;
  /** Whether each word of either name translates one of the other. */
  readonly isTranslated: (name: HeardName, english: EnglishForm) => boolean;
  /** Whether one of the names has a direction that the other has not. */
  readonly isTurned: (name: HeardName, english: EnglishForm) => boolean;
  /** Whether the name has a word that the English name does not explain. */
  readonly hasMore: (name: HeardName, english: EnglishForm) => boolean;
  /** Whether the English name has a word that the name has not. */
  readonly hasLess: (name: HeardName, english: EnglishForm) => boolean;
  /** The words of the English name, those for the kind of region too, that the name neither translates nor sounds like. */
  readonly unexplained: (name: string, english: EnglishForm) => readonly string[];
  /** How alike two names of other languages sound: as {@link Likeness.value}. */
  readonly compareBodies: (name: HeardName, other: string) => number;
  /** The letters of a name's body. */
  readonly soundOf: (name: HeardName) => string;
}

/** Whether a word is a country's name, or begins as it does. */
function isOfCountry(word: string, country: string): boolean {
  return (
    word.length >= COUNTRY_LENGTH &&
    country.startsWith(word.slice(0, Math.max(COUNTRY_LENGTH, word.length - ENDING_LENGTH)))
  );
}

/** Vowels that Thai and Lao write before the consonant that they follow. */
const LEADING_VOWEL = /([เแโใไເແໂໃໄ])([ก-ฮກ-ຮ])/gu;
/** Words of a name and of English that are shorter than so are not missed. */
const MISSED_LENGTH = 4;
/** So much likelier a name must be without a word to have no use for it. */
const CLEARLY = 1;
/** So much likelier a whole name must be with a direction to have it by sound. */
const HEARD_DIRECTION = 2;
/** From here on a word sounds like one for a kind of region. */
const KIND_LIKENESS = 7;
const KIND_LENGTH = 5;
/** From here on a word sounds like one of its region's English name, and is not one for a kind. */
const NAME_LIKENESS = 2.5;
/** So many letters of a word count from its beginning as a country's name. */
const COUNTRY_LENGTH = 4;
const ENDING_LENGTH = 3;

/**
 * Learns to judge the names of a locale from all of them.
 *
 * @param toAscii writes any script in Latin letters.
 */
export function learnJudge(
  names: readonly NamePair[],
  {
    locale,
    headWords,
    toAscii,
  }: {
    readonly locale: string;
    readonly headWords: HeadWords | undefined;
    readonly toAscii: (name: string) => string;
  },
): NameJudge {
  const vocabulary = learnVocabulary(locale, names, headWords);
  const letters = memoize((text) =>
    toAscii(text.replace(LEADING_VOWEL, "$2$1"))
      .toLowerCase()
      .replaceAll(/[^a-z]/gu, ""),
  );
  const join = (words: readonly string[]): string => words.map(letters).join("");
  const { compare: alike } = learnHearing(
    names.map(({ name, english }) => {
      const { rest, left } = vocabulary.read(vocabulary.body(name), english);
      return [join(rest), joinWords(left)];
    }),
  );
  vocabulary.dropHeads(findNames());

  /** Words that were found to stand with many names, and sound like one. */
  function findNames(): string[] {
    const found = new Map<string, { all: number; heard: number }>();
    for (const { name, english } of names)
      for (const word of new Set(vocabulary.words(name))) {
        if (!vocabulary.foundHeads.has(word)) continue;
        const counts = found.get(word) ?? { all: 0, heard: 0 };
        const sound = letters(word);
        counts.all++;
        if (english.words.some((one) => !one.isKind && alike(sound, one.word) > NAME_LIKENESS))
          counts.heard++;
        found.set(word, counts);
      }
    return [...found].filter(([, { all, heard }]) => heard * 2 >= all).map(([word]) => word);
  }

  const kinds = kindWords().filter((word) => word.length >= KIND_LENGTH);
  const soundsLikeKind = memoize((word) =>
    kinds.some((kind) => alike(letters(word), kind) > KIND_LIKENESS),
  );

  function compare(name: HeardName, english: EnglishForm, only?: number): Likeness {
    let best: Likeness = { value: Number.NEGATIVE_INFINITY, sound: 0 };
    const better = (value: number, sound: number): void => {
      if (value > best.value) best = { value, sound };
    };
    for (const [sound, text] of name.sounds.entries()) {
      if (only !== undefined && only >= 0 && only !== sound) continue;
      better(alike(text, english.content), sound);
      if (english.linked !== english.content) better(alike(text, english.linked), sound);
    }
    for (const words of [name.body, name.words]) {
      const { rest, left, score } = vocabulary.read(words, english);
      if (score === 0) continue;
      better(score + alike(join(rest), joinWords(left)), -1);
      better(score + alike(join(rest.map(vocabulary.stem)), joinWords(left)), -1);
    }
    return best;
  }

  /** Whether the whole name sounds as if it had a word of the English one. */
  function isHeard(name: HeardName, { words }: EnglishForm, word: EnglishWord): boolean {
    const content = words.filter((one) => !one.isKind);
    const others = joinWords(content.filter((one) => one !== word));
    return (
      others !== "" &&
      name.sounds.some(
        (sound) => alike(sound, joinWords(content)) > alike(sound, others) + HEARD_DIRECTION,
      )
    );
  }

  function isTurned(name: HeardName, english: EnglishForm): boolean {
    const { rest, left } = vocabulary.read(name.body, english);
    const [sound, leftSound] = [join(rest), joinWords(left)];
    const untold = left.filter(
      ({ concept, direction }) =>
        direction.length === 2 || (direction !== "" && vocabulary.knows(concept)),
    );
    const isMissing = untold.some((word) => {
      const others = joinWords(left.filter((one) => one !== word));
      const without =
        others === "" ? Math.max(CLEARLY, alike(sound, others)) : alike(sound, others);
      return !isHeard(name, english, word) && alike(sound, leftSound) <= Math.max(0, without);
    });
    if (isMissing) return true;
    const own = english.words.map(({ direction }) => direction).filter(Boolean);
    const isUntold = left.some(({ direction }) => direction !== "");
    return rest.some((word) => {
      const direction = vocabulary.directionOf(word);
      if (direction === undefined) return false;
      if (own.some((one) => [...direction].every((part) => one.includes(part)))) return false;
      if (isUntold) return true;
      const others = join(rest.filter((one) => one !== word));
      return alike(sound, leftSound) <= (others === "" ? 0 : alike(others, leftSound));
    });
  }

  function extraWords(words: readonly string[], name: HeardName, english: EnglishForm): string[] {
    const { rest, left } = vocabulary.read(words, english);
    const leftSound = joinWords(left);
    const isUseless = (word: string, all: readonly string[], sound: string) =>
      alike(join(all.filter((one) => one !== word)), sound) > alike(join(all), sound) + CLEARLY;
    return rest.filter(
      (word) =>
        letters(word).length >= MISSED_LENGTH &&
        !vocabulary.isHead(word) &&
        isUseless(word, rest, leftSound) &&
        isUseless(word, name.words, english.linked) &&
        !soundsLikeKind(word),
    );
  }

  function lacks(words: readonly string[], english: EnglishForm): boolean {
    const { rest, left } = vocabulary.read(words, english);
    const sound = join(rest);
    return left.some(
      (word) =>
        word.word.length >= MISSED_LENGTH &&
        alike(sound, joinWords(left.filter((one) => one !== word))) >
          alike(sound, joinWords(left)) + CLEARLY,
    );
  }

  return {
    vocabulary,
    hear: (name, country = "") => {
      const words = vocabulary.words(name);
      const all = vocabulary.body(name);
      const own = all.filter((word) => !isOfCountry(word, country));
      const body = own.length > 0 ? own : all;
      const last = body.at(-1) ?? "";
      const sounds = [
        words,
        all,
        body,
        body.map(vocabulary.stem),
        [...body.slice(0, -1), vocabulary.stem(last)],
        body.filter((word) => !soundsLikeKind(word)),
      ].map(join);
      return { words, body, sounds: [...new Set(sounds)].filter(Boolean) };
    },
    compare,
    isTranslated: (name, english) => {
      const { rest, left, score } = vocabulary.read(name.body, english);
      return score > 0 && left.length === 0 && join(rest).length < 2;
    },
    isTurned,
    hasMore: (name, english) =>
      [name.body, name.words].every((words) => extraWords(words, name, english).length > 0),
    hasLess: (name, english) => [name.body, name.words].every((words) => lacks(words, english)),
    unexplained: (name, { words }) => {
      const all = { words: words.map((word) => ({ ...word, isKind: false })) };
      const { rest, left } = vocabulary.read(vocabulary.words(name), all);
      const [sound, leftSound] = [join(rest), joinWords(left)];
      return left
        .filter(
          (word) =>
            alike(sound, leftSound) <= alike(sound, joinWords(left.filter((one) => one !== word))),
        )
        .map(({ word }) => word);
    },
    compareBodies: (name, other) => alike(join(name.body), other),
    soundOf: (name) => join(name.body),
  };
}
