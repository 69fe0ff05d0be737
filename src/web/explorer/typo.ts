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

/** Whether one typo makes `typed` into the beginning of a word. */
export function startsWithTypo(word: string, typed: string): boolean {
  const { length } = typed;
  if (word.length < length - 1 || !isLikeAtStart(word, typed)) return false;
  return [length - 1, length, length + 1].some((end) => isOneTypo(typed, word.slice(0, end)));
}

/** Whether the first two letters can be one typo apart: tells most words apart at once. */
function isLikeAtStart(a: string, b: string): boolean {
  return a[0] === b[0] || a[1] === b[1] || a[0] === b[1] || a[1] === b[0];
}
