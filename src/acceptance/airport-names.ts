/** Compares names of airports, to tell a new name from vandalism. Pure. */
import { foldText } from "../catalog/fold.ts";

/** Words that tell no airport from others: kinds, titles, directions and articles. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "airport airfield airstrip aerodrome aeropuerto aeroporto air base airbase heliport helipad " +
    "seaplane station field international regional municipal domestic memorial national county " +
    "city island islands new old north south east west general captain president king queen " +
    "prince princess doctor dr saint st san santa sao el la las los le les al the of and de do da del"
  ).split(" "),
);

/** Letters that two spellings of one word begin with. */
const STEM_LENGTH = 5;

/** Whether two names differ in spaces and hyphens at most: `La Guardia`. */
export function isSameName(a: string, b: string): boolean {
  const [one, other] = [foldText(a), foldText(b)];
  // Names without Latin letters fold to nothing.
  if (one === "" && other === "") return a === b;
  return one.replaceAll("-", "") === other.replaceAll("-", "");
}

/** Whether two names share a word that tells airports apart. */
export function shareWord(a: string, b: string): boolean {
  const others = wordsOf(b);
  return wordsOf(a).some((word) => others.some((other) => isAlike(word, other)));
}

function wordsOf(name: string): string[] {
  return foldText(name)
    .split("-")
    .filter((word) => word.length > 1 && !COMMON_WORDS.has(word));
}

function isAlike(a: string, b: string): boolean {
  if (a === b) return true;
  return a.length >= STEM_LENGTH && a.slice(0, STEM_LENGTH) === b.slice(0, STEM_LENGTH);
}
