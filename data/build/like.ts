/** From so many letters on, the search forgives a wrong one. */
const FORGIVEN_FROM = 7;
const BY_SOUND = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Whether two names are one, or differ by a letter that the search forgives. */
export function isLike(a: string, b: string): boolean {
  if (a === b) return true;
  if (Math.min(a.length, b.length) < FORGIVEN_FROM || BY_SOUND.test(a)) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  return restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1);
}
