/** Localized slugs that no two regions share. Pure. */
import { localizedName } from "./integrity.ts";
import type { Region, RegionNames } from "./model.ts";

/**
 * Names in which every region has a slug of its own: a localized slug that another region has too,
 * such as one that upstream has added since the names were made, gives way to the region's base
 * slug. Base slugs are distinct, so that this comes to an end; names are never touched.
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
