import { type CatalogRegion, ownCountry } from "./catalog-region.ts";
import type { Sounds } from "./sound.ts";

/** A locale's names by region key, and what they are judged by. */
interface Names {
  readonly names: ReadonlyMap<string, string>;
  /** Names that a person gave: these stay. */
  readonly given: ReadonlyMap<string, string>;
  readonly regions: readonly Pick<CatalogRegion, "key" | "bareName">[];
  readonly soundsLike: Sounds["soundsLike"];
}

/** A region and its name in a locale. */
type Named = Pick<CatalogRegion, "key" | "bareName"> & { readonly name: string };

/**
 * A locale's names without those that leave two regions of a country with one name: CLDR has told
 * them apart by a footnote mark, or has one name for both. The name stays with the region whose
 * English name it sounds like (Washington is not the District of Columbia), and of several with the
 * one whose English name is the plainest (Buenos Aires, not Buenos Aires Province). English stands
 * for the rest.
 */
export function withoutNamesakes(world: Names): ReadonlyMap<string, string> {
  const { names, given, regions, soundsLike } = world;
  const named = regions.map(({ key, bareName }): Named => ({
    key,
    bareName,
    name: names.get(key) ?? bareName,
  }));
  const groups = Map.groupBy(named, ({ key, name }) => `${ownCountry(key)}:${name.toLowerCase()}`);
  const dropped = new Set(
    [...groups].flatMap(([group, members]) => {
      if (group.startsWith(":") || members.length === 1) return [];
      const fixed = members.filter(({ key }) => given.has(key) || !names.has(key));
      const stays =
        fixed.length > 0
          ? fixed
          : plainest(members.filter(({ name, bareName }) => soundsLike(name, bareName)));
      return members.filter((member) => !stays.includes(member)).map(({ key }) => key);
    }),
  );
  if (dropped.size === 0) return names;
  return withoutNamesakes({
    ...world,
    names: new Map([...names].filter(([key]) => !dropped.has(key))),
  });
}

/**
 * The region that alone has the fewest words in its English name. Other languages call Mexico City
 * by the country's name or like the state: a city is plain.
 */
function plainest(alike: readonly Named[]): readonly Named[] {
  const words = ({ bareName }: Named) => bareName.replace(/ City$/u, "").split(" ").length;
  const fewest = Math.min(...alike.map(words));
  const found = alike.filter((member) => words(member) === fewest);
  return found.length === 1 ? found : [];
}
