import { foldText } from "../../src/catalog/fold.ts";

/** Words for kinds of regions: they say nothing about which region it is. */
const KINDS: ReadonlySet<string> = new Set(
  (
    "province provinces provincia provincial region regions regional region state states department departement county " +
    "district districts governorate prefecture municipality municipalities municipio commune parish division emirate " +
    "oblast krai republic republika autonomous autonoma community territory territories canton voivodeship lan rayon raion " +
    "novads city town urban rural capital special administrative area zone unitary authority council borough metropolitan " +
    "atoll island islands isle isles kommunia kommune fylke judet wilaya wilayah vilayet okrug adygea of the de del da do la el al le " +
    "les los las and et y e i du des d l dependency federal constituent entity statistical local government group"
  ).split(" "),
);

const DIRECTIONS: ReadonlyMap<string, string> = new Map([
  ["north", "N"],
  ["northern", "N"],
  ["norte", "N"],
  ["nord", "N"],
  ["south", "S"],
  ["southern", "S"],
  ["sur", "S"],
  ["sud", "S"],
  ["east", "E"],
  ["eastern", "E"],
  ["est", "E"],
  ["west", "W"],
  ["western", "W"],
  ["ouest", "W"],
  ["northeast", "NE"],
  ["northeastern", "NE"],
  ["northwest", "NW"],
  ["northwestern", "NW"],
  ["southeast", "SE"],
  ["southeastern", "SE"],
  ["southwest", "SW"],
  ["southwestern", "SW"],
  ["central", "C"],
  ["centre", "C"],
  ["center", "C"],
  ["middle", "C"],
  ["upper", "U"],
  ["lower", "L"],
]);

/** Articles and the like: they say nothing at all. */
const LINKS: ReadonlySet<string> = new Set(
  "of the and de del da do la el al le les los las et y e i du des d l".split(" "),
);

/** Whether a folded word of an English name says only what kind of region it is. */
export function isKind(word: string): boolean {
  return KINDS.has(word);
}

/** Whether a folded word of an English name is an article or the like. */
export function isLink(word: string): boolean {
  return LINKS.has(word);
}

const STEM_LENGTH = 4;

interface Words {
  readonly direction: string;
  readonly words: readonly string[];
}

function wordsOf(name: string): Words {
  const all = foldText(name).split("-").filter(Boolean);
  const direction = all.flatMap((word) => DIRECTIONS.get(word) ?? []).join("");
  const words = all.filter((word) => !KINDS.has(word) && !DIRECTIONS.has(word));
  return { direction, words };
}

/** The words of a region's English name that say which one it is: no kinds, no directions. */
export function nameWords(name: string): readonly string[] {
  return wordsOf(name).words;
}

/** The part of a region's English name that tells it from its neighbours, for exact comparison. */
export function coreName(name: string): string {
  const { direction, words } = wordsOf(name);
  return [direction, ...words].filter(Boolean).join("-") || foldText(name);
}

/**
 * Whether two English names can mean one region: their cores are equal,
 * or they point in the same direction and have a word whose first letters agree.
 */
export function shareStem(a: string, b: string): boolean {
  if (coreName(a) === coreName(b)) return true;
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.direction !== right.direction) return false;
  return left.words.some((word) => right.words.some((other) => stem(word) === stem(other)));
}

function stem(word: string): string {
  return word.slice(0, STEM_LENGTH);
}
