/**
 * The names of all regions in one locale, for clients that have the catalog in another. By position,
 * and without what follows from the rest, so that brotli makes at most 20 kB of them. Pure.
 */
import { foldText } from "./fold.ts";
import type { LocalizedName } from "./model.ts";
import type { Spelling } from "./spellings.ts";

export interface PackedNames {
  /** The letters of these names that `foldText` does not spell, or spells otherwise. */
  readonly letters: Spelling;
  /** In the order of the regions; empty for the English name. */
  readonly names: readonly string[];
  /** By position, the slugs that do not follow from the names. */
  readonly slugs: { readonly [position: string]: string };
}

interface Named {
  /** English names, with the base slugs. */
  readonly regions: readonly LocalizedName[];
  /** Those of the locale. */
  readonly names: readonly LocalizedName[];
  readonly spelling: Spelling;
}

export function packNames({ regions, names, spelling }: Named): PackedNames {
  const packed = names.map(({ name }, at) => (name === regions[at]?.name ? "" : name));
  const letters = occurring(spelling, packed);
  const slugs = followingSlugs(regions, { names: packed, letters });
  const others = names.flatMap(({ slug }, at) => (slug === slugs[at] ? [] : [[at, slug]]));
  return { letters, names: packed, slugs: Object.fromEntries(others) };
}

/** Returns the names of the locale. They are right if the regions are those that were packed. */
export function unpackNames(
  regions: readonly LocalizedName[],
  packed: PackedNames,
): LocalizedName[] {
  const slugs = followingSlugs(regions, packed);
  return regions.map(({ name, slug }, at) => ({
    name: packed.names[at] || name,
    slug: packed.slugs[at] ?? slugs[at] ?? slug,
  }));
}

function occurring(spelling: Spelling, names: readonly string[]): Spelling {
  let text = plain(names);
  return spelling.filter(([letters, ascii]) => {
    const before = text;
    text = text.replaceAll(letters, ascii);
    return text !== before;
  });
}

const LATIN = /\p{Script=Latin}/u;
/** Has no spelling here. */
const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;
/** Soft and aspirated sounds outside of Latin script, within which they separate words. */
const APOSTROPHES = /['’ʼ`]/g;

/** One text is spelled in a tenth of the time that its lines would take. */
function plain(names: readonly string[]): string {
  const lines = names.map((name) => (LATIN.test(name) ? name : name.replace(APOSTROPHES, "")));
  return lines.join("\n").toLowerCase();
}

/** The slugs that follow from names: their transliteration and the country, or else the base slug. */
function followingSlugs(
  regions: readonly LocalizedName[],
  { names, letters }: Pick<PackedNames, "names" | "letters">,
): string[] {
  let text = plain(names);
  for (const [from, ascii] of letters) text = text.replaceAll(from, ascii);
  const lines = text.split("\n");
  return regions.map(({ slug }, at) => {
    const line = lines[at] ?? "";
    const word = OTHER_LETTER.test(line) ? "" : foldText(line);
    return word === "" ? slug : `${word}${/-[a-z]{2}$/.exec(slug)?.[0] ?? ""}`;
  });
}
