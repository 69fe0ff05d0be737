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

/** The words whose beginning one typo makes into what is typed. */
export function wordsWithTypo(words: readonly string[], typed: string): string[] {
  const { length } = typed;
  // A typo in one half leaves the other: that tells most words apart at once.
  const middle = Math.ceil(length / 2);
  const first = typed.slice(0, middle - 1);
  const second = typed.slice(middle);
  return words.filter((word) => {
    if (word.length < length - 1) return false;
    const hasHalf =
      word.startsWith(first) ||
      word.startsWith(second, middle - 1) ||
      word.startsWith(second, middle) ||
      word.startsWith(second, middle + 1);
    return (
      hasHalf &&
      [length - 1, length, length + 1].some((end) => isOneTypo(typed, word.slice(0, end)))
    );
  });
}
