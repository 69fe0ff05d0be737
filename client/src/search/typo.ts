import { bitsIn, lettersOf, type WordList } from "./word-list.ts";

/** From so many letters on, a word may have one typo, and from so many two, as Algolia and Meilisearch have it. */
const ONE_TYPO_LENGTH = 4;
const TWO_TYPOS_LENGTH = 8;

/** A longer text is no name. */
const TYPED_MAX = 30;

/** Chinese, Japanese and Korean are typed by their sounds, so that another sign is another name. */
const BY_SOUND = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** More than is forgiven. */
const FAR = 99;

/** How many typos are forgiven in what is typed. */
function typosForgiven(typed: string): 0 | 1 | 2 {
  const { length } = typed;
  if (length < ONE_TYPO_LENGTH) return 0;
  return length < TWO_TYPOS_LENGTH ? 1 : 2;
}

/** A word that somebody may have meant. */
export interface NearWord {
  readonly word: string;
  /** In the list. */
  readonly at: number;
  readonly typos: number;
  /** Whether only the beginning of the word was typed. */
  readonly isBegun: boolean;
}

/**
 * The words that are typed, or begun, with one or two letters that are wrong, missing, extra or swapped
 * with their neighbour (optimal string alignment). What words have in common is compared once.
 */
export function wordsNear(
  { words, shared, letters }: WordList,
  typed: string,
  most: number = typosForgiven(typed),
): readonly NearWord[] {
  if (most === 0 || typed.length > TYPED_MAX || BY_SOUND.test(typed)) return [];
  const typedLetters = lettersOf(typed);
  // A key that is held down means no name.
  if (bitsIn(typedLetters) < 2) return [];
  const { length } = typed;
  const depthMax = length + most;
  /** Of the first letters of a word, as many as the number of the row, from the first typed ones. */
  const distances = Array.from({ length: depthMax + 1 }, () =>
    new Uint8Array(length + 1).fill(FAR),
  );
  for (let at = 0; at <= most; at++) distances[0]?.fill(at, at, at + 1);
  const ofAllTyped = (depth: number) => distances[depth]?.[length] ?? Infinity;
  const near: NearWord[] = [];
  // So many rows are those of the word before, whose beginning of so many letters is too far.
  let [known, tooFar, same] = [0, Infinity, Infinity];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    same = Math.min(same, shared[at] ?? 0);
    // Each letter that the word lacks is a typo.
    if (same >= tooFar || bitsIn(typedLetters & ~(letters[at] ?? 0)) > most) continue;
    known = Math.min(known, same);
    [tooFar, same] = [Infinity, Infinity];
    while (known < Math.min(word.length, depthMax) && tooFar === Infinity)
      if (compareNext(distances, ++known, { word, typed, most }) > most) tooFar = known;
    let typos = Infinity;
    for (let depth = length - most; depth <= known; depth++)
      typos = Math.min(typos, ofAllTyped(depth));
    if (typos === 0 || typos > most) continue;
    const whole = word.length === known ? ofAllTyped(known) : Infinity;
    const isBegun = whole > most;
    near.push({
      word,
      at,
      typos: isBegun ? typos : whole,
      isBegun,
    });
  }
  return near;
}

interface Compared {
  readonly word: string;
  readonly typed: string;
  readonly most: number;
}

/** Compares one letter more of a word. Returns the least distance in the row. */
function compareNext(
  distances: readonly Uint8Array[],
  depth: number,
  { word, typed, most }: Compared,
): number {
  const [row, above, aboveThat] = [distances[depth], distances[depth - 1], distances[depth - 2]];
  if (row === undefined || above === undefined) return FAR;
  let least = FAR;
  if (depth <= most) least = row[0] = depth;
  const [letter, before] = [word[depth - 1], word[depth - 2]];
  const end = Math.min(typed.length, depth + most);
  for (let at = Math.max(1, depth - most); at <= end; at++) {
    const isSame = letter === typed[at - 1];
    let distance = Math.min(
      (above[at - 1] ?? FAR) + (isSame ? 0 : 1),
      (above[at] ?? FAR) + 1,
      (row[at - 1] ?? FAR) + 1,
    );
    if (!isSame && letter === typed[at - 2] && before === typed[at - 1])
      distance = Math.min(distance, (aboveThat?.[at - 2] ?? FAR) + 1);
    row[at] = distance;
    least = Math.min(least, distance);
  }
  return least;
}
