import { memoize } from "./memoize.ts";

/** How a language writes the sounds of English names, learned from pairs of names. */
export interface Hearing {
  /**
   * The log-likelihood ratio of a name and an English one, both in a-z: above 0 if they are likelier
   * one name than two. Each letter of an empty one counts against them.
   */
  readonly compare: (heard: string, english: string) => number;
}

/** A pair of names in a-z: as the language writes it, and in English. */
export type HeardPair = readonly [heard: string, english: string];

/** The letters, and 0 for none. */
const LETTERS = 27;
/** Letters that languages write for one another. */
const ALIKE = ["aeiouyw", "bpvfw", "dtz", "gkqcxh", "szcjx", "lr", "mn", "jgy", "tc"];
/** The first guess: how much likelier than a chance pair. */
const SAME = 10;
const SIMILAR = 0.5;
const SILENT = 0.3;
const UNLIKE = 0.02;
/** How many letters the first guess weighs against those of the names. */
const PRIOR_LETTERS = 300;
const PASSES = 4;
/** Longer names are compared by so many letters. */
const MAX_LENGTH = 63;
/** What a letter costs that no letter of the other name is for. */
const LETTER_ALONE = 1.2;

function codes(text: string): Uint8Array {
  const letters = new Uint8Array(Math.min(text.length, MAX_LENGTH));
  for (let at = 0; at < letters.length; at++) letters[at] = text.charCodeAt(at) - 96;
  return letters;
}

function weigh(a: number, b: number): number {
  if (a === 0 || b === 0) return a === b ? 0 : SILENT;
  if (a === b) return SAME;
  const pair = [a, b].map((code) => String.fromCharCode(code + 96));
  return ALIKE.some((letters) => pair.every((letter) => letters.includes(letter)))
    ? SIMILAR
    : UNLIKE;
}

function normalized(table: Float64Array): Float64Array {
  const sum = table.reduce((total, value) => total + value, 0);
  return table.map((value) => value / sum);
}

const FIRST_GUESS = normalized(
  Float64Array.from({ length: LETTERS * LETTERS }, (_, at) =>
    weigh(Math.floor(at / LETTERS), at % LETTERS),
  ),
);

const forwards = new Float64Array((MAX_LENGTH + 1) ** 2);
const backwards = new Float64Array((MAX_LENGTH + 1) ** 2);

/** The probability of two names over all ways to pair their letters; leaves that of their beginnings in `forwards`. */
function probability(x: Uint8Array, y: Uint8Array, table: Float64Array): number {
  const width = y.length + 1;
  for (let i = 0; i <= x.length; i++) {
    const row = (x[i - 1] ?? 0) * LETTERS;
    for (let j = 0; j <= y.length; j++) {
      const at = i * width + j;
      const letter = y[j - 1] ?? 0;
      let sum = at === 0 ? 1 : 0;
      if (i > 0) sum += (forwards[at - width] ?? 0) * (table[row] ?? 0);
      if (j > 0) sum += (forwards[at - 1] ?? 0) * (table[letter] ?? 0);
      if (i > 0 && j > 0) sum += (forwards[at - width - 1] ?? 0) * (table[row + letter] ?? 0);
      forwards[at] = sum;
    }
  }
  return forwards[x.length * width + y.length] ?? 0;
}

/** Adds to `counts` how often each pair of letters is expected in two names. */
function count(x: Uint8Array, y: Uint8Array, table: Float64Array, counts: Float64Array): void {
  const total = probability(x, y, table);
  if (total === 0) return;
  const width = y.length + 1;
  for (let i = x.length; i >= 0; i--)
    for (let j = y.length; j >= 0; j--) {
      const at = i * width + j;
      const row = (x[i] ?? 0) * LETTERS;
      const letter = y[j] ?? 0;
      let sum = i === x.length && j === y.length ? 1 : 0;
      const step = (pair: number, next: number): void => {
        const share = (table[pair] ?? 0) * (backwards[next] ?? 0);
        counts[pair] = (counts[pair] ?? 0) + ((forwards[at] ?? 0) * share) / total;
        sum += share;
      };
      if (i < x.length) step(row, at + width);
      if (j < y.length) step(letter, at + 1);
      if (i < x.length && j < y.length) step(row + letter, at + width + 1);
      backwards[at] = sum;
    }
}

/** The logarithm of each letter's share in the names. */
function logShares(names: readonly Uint8Array[]): Float64Array {
  const shares = new Float64Array(LETTERS).fill(1);
  shares[0] = 0;
  for (const name of names) for (const letter of name) shares[letter] = (shares[letter] ?? 0) + 1;
  return normalized(shares).map(Math.log);
}

/**
 * Learns from pairs of which most are one name: expectation maximization over a stochastic edit
 * distance (Ristad and Yianilos, 1998).
 */
export function learnHearing(pairs: readonly HeardPair[]): Hearing {
  const coded = pairs
    .filter(([heard, english]) => heard !== "" && english !== "")
    .map(([heard, english]) => [codes(heard), codes(english)] as const);
  let table = FIRST_GUESS;
  for (let pass = 0; pass < PASSES; pass++) {
    const counts = FIRST_GUESS.map((value) => value * PRIOR_LETTERS);
    for (const [x, y] of coded) count(x, y, table, counts);
    table = normalized(counts);
  }
  const ofHeard = logShares(coded.map(([x]) => x));
  const ofEnglish = logShares(coded.map(([, y]) => y));
  const prepare = (shares: Float64Array) =>
    memoize((text) => {
      const name = codes(text);
      return { name, chance: name.reduce((sum, letter) => sum + (shares[letter] ?? 0), 0) };
    });
  const [asHeard, asEnglish] = [prepare(ofHeard), prepare(ofEnglish)];
  return {
    compare: (heard, english) => {
      if (heard === "" || english === "") return -LETTER_ALONE * (heard + english).length;
      const [x, y] = [asHeard(heard), asEnglish(english)];
      return Math.log(probability(x.name, y.name, table)) - x.chance - y.chance;
    },
  };
}
