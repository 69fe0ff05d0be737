import { type CatalogRegion, codeOfRegion } from "./catalog-region.ts";
import { cldrCode, type SubdivisionNames } from "./cldr-codes.ts";
import type { Sounds } from "./sound.ts";

/**
 * A locale's names, each under the code that CLDR's English name of the same subdivision has.
 * ISO gave Iran's codes to other provinces, and some locales have names under the codes of then,
 * some under those of now, some both. A name under a code that now is another region's belongs to
 * that one if it sounds like it, and not like the one that had the code before.
 */
export function inEnglishNumbering(
  names: SubdivisionNames,
  regions: readonly Pick<CatalogRegion, "key" | "bareName" | "cldr">[],
  { sharesSound, soundsLike }: Sounds,
): SubdivisionNames {
  const holders = new Map(
    regions.flatMap((region) => region.cldr.map((code) => [code, region] as const)),
  );
  const moved = regions.flatMap((region) => {
    const number = cldrCode(codeOfRegion(region.key));
    const [code, holder, name] = [region.cldr[0], holders.get(number), names.get(number)];
    if (code === undefined || holder === undefined || holder === region) return [];
    if (name === undefined || sharesSound(name, holder.bareName)) return [];
    return soundsLike(name, region.bareName) ? [{ number, code, name, region }] : [];
  });
  const numbers = new Set(moved.map(({ number }) => number));
  const result = new Map([...names].filter(([code]) => !numbers.has(code)));
  for (const { code, name, region } of moved)
    if (!sharesSound(result.get(code) ?? "", region.bareName)) result.set(code, name);
  return result;
}
