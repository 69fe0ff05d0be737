/** Makes localized slugs unique. Pure. */
import { localizedName } from "./integrity.ts";
import type { Region, RegionNames } from "./model.ts";

/**
 * Returns names in which every slug is unique. Two regions can share a localized slug, for example
 * after upstream has added one; the region then gets its base slug. Base slugs are unique, so this
 * terminates. Names stay as they are.
 */
export function withDistinctSlugs(regions: readonly Region[], names: RegionNames): RegionNames {
  const distinct = new Map(names);
  for (;;) {
    const clashing = regions.filter(isClashing(regions, distinct));
    const toMend = clashing.filter(({ key, slug }) => (distinct.get(key)?.slug ?? slug) !== slug);
    if (toMend.length === 0) return distinct;
    for (const region of toMend)
      distinct.set(region.key, { ...localizedName(region, distinct), slug: region.slug });
  }
}

function isClashing(regions: readonly Region[], names: RegionNames): (region: Region) => boolean {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const region of regions) {
    const { slug } = localizedName(region, names);
    if (seen.has(slug)) twice.add(slug);
    seen.add(slug);
  }
  return (region) => twice.has(localizedName(region, names).slug);
}
