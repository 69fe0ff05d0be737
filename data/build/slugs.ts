import { foldText } from "../../src/catalog/fold.ts";
import { transliterate } from "./transliterate.ts";
import { compareCodeUnits } from "./text.ts";
import {
  type CatalogRegion,
  codeOfRegion,
  countryOfRegion,
  type PlainRegion,
} from "./catalog-region.ts";

/**
 * Slugs by region key: the folded English name, for subdivisions followed by the country.
 * Where two regions of a country share a name, all of them take their ISO code in between.
 */
export function baseSlugs(regions: readonly PlainRegion[]): ReadonlyMap<string, string> {
  const plain = (region: PlainRegion): string =>
    withCountry(foldText(region.name), countryOfRegion(region.key));
  const groups = Map.groupBy(regions, plain);
  const slugs = new Map<string, string>();
  for (const [slug, group] of groups) {
    const keys = group.map(({ key }) => key);
    if (keys.length > 1 && keys.some((key) => countryOfRegion(key) === ""))
      throw new Error(`regions ${keys.join(" and ")}: one slug, ${slug}`);
    for (const region of group) {
      const code = foldText(codeOfRegion(region.key)).split("-").slice(1).join("-");
      slugs.set(
        region.key,
        group.length === 1
          ? slug
          : withCountry(`${foldText(region.name)}-${code}`, countryOfRegion(region.key)),
      );
    }
  }
  return slugs;
}

function withCountry(slug: string, country: string): string {
  return country === "" ? slug : `${slug}-${country.toLowerCase()}`;
}

/**
 * Localized slugs of a locale by region key.
 * A region is left out, and keeps its base slug, when its name cannot be transliterated,
 * when the result is the base slug, and when it is another region's slug, base or localized.
 */
export function localizedSlugs(
  locale: string,
  names: ReadonlyMap<string, string>,
  regions: readonly CatalogRegion[],
): ReadonlyMap<string, string> {
  const base = new Set(regions.map((region) => region.slug));
  const candidates = regions.flatMap(({ key }) => {
    const name = names.get(key);
    const word = name === undefined ? "" : transliterate(name, locale);
    return word === "" ? [] : [{ key, slug: withCountry(word, countryOfRegion(key)) }];
  });
  const taken = Map.groupBy(candidates, ({ slug }) => slug);
  const unique = candidates.filter(({ slug }) => !base.has(slug) && taken.get(slug)?.length === 1);
  return new Map(
    unique
      .map(({ key, slug }): [string, string] => [key, slug])
      .toSorted(([a], [b]) => compareCodeUnits(a, b)),
  );
}
