/** Shortest word in which a typo is forgiven: shorter ones would be like too many others. */
export const TYPO_MIN_LENGTH = 5;

/** Whether one letter that is wrong, missing, extra or swapped with its neighbour makes `a` into `b`. */
function isOneTypo(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  if (a.length > b.length) return a.slice(start + 1) === b.slice(start);
  if (a.length < b.length) return a.slice(start) === b.slice(start + 1);
  if (a.slice(start + 1) === b.slice(start + 1)) return true;
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  return isSwapped && a.slice(start + 2) === b.slice(start + 2);
}

/** Shortest word with a typo that may be only begun: shorter ones are like the beginnings of too many. */
const BEGUN_MIN_LENGTH = 7;

/** The words that one typo, not in the first letter, makes into what is typed, or begins so. */
export function wordsWithTypo(words: readonly string[], typed: string): string[] {
  const { length } = typed;
  const initial = typed.slice(0, 1);
  const ends = [length - 1, length, length + 1];
  return words.filter((word) => {
    if (!word.startsWith(initial) || word.length < length - 1) return false;
    if (length < BEGUN_MIN_LENGTH) return word.length <= length + 1 && isOneTypo(typed, word);
    return ends.some((end) => isOneTypo(typed, word.slice(0, end)));
  });
}
