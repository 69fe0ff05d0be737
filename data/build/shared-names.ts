import { countryOfRegion } from "./catalog-region.ts";

/** How a locale adds the country to a name. */
export interface Qualification {
  /** The name of a country, empty where the locale has none. */
  readonly countryName: (code: string) => string;
  /** CLDR's pattern for qualified names, `{0} ({1})`. */
  readonly pattern: string;
}

/**
 * The names of one locale, each name that subdivisions of several countries share with its country
 * in brackets, in the locale's way: `Western (Ghana)`, `中央区（ボツワナ）`.
 *
 * @param names of all regions by key, English ones where the locale has none.
 */
export function withCountries(
  names: ReadonlyMap<string, string>,
  { countryName, pattern }: Qualification,
): ReadonlyMap<string, string> {
  const groups = Map.groupBy(names, ([, name]) => name.toLowerCase());
  const qualified = new Map(names);
  for (const group of groups.values()) {
    const countries = new Set(group.map(([key]) => countryOfRegion(key)));
    if (countries.size < 2) continue;
    for (const [key, name] of group) {
      const country = countryName(countryOfRegion(key));
      if (country !== "" && country !== name)
        qualified.set(
          key,
          pattern.replace(/\{([01])\}/gu, (_, part) => (part === "0" ? name : country)),
        );
    }
  }
  return qualified;
}
