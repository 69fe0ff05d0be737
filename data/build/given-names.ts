import { type CatalogRegion, subdivisionKey } from "./catalog-region.ts";
import { readCurated } from "./curated.ts";
import { repeated } from "./repeated.ts";

/** A name that a person gave to a region in a locale. */
export interface GivenName {
  readonly locale: string;
  readonly key: string;
  readonly name: string;
}

/**
 * The given names by locale and region key.
 * Throws with the row when there is no such region or locale, or a name is there already.
 */
export function givenNames(
  rows: readonly GivenName[],
  regions: readonly Pick<CatalogRegion, "key">[],
  locales: ReadonlySet<string>,
): (locale: string) => ReadonlyMap<string, string> {
  const keys = new Set(regions.map(({ key }) => key));
  for (const { locale, key, name } of rows) {
    const row = `${name} in ${locale} of ${key}`;
    if (!keys.has(key)) throw new Error(`${row}: no such region`);
    if (!locales.has(locale)) throw new Error(`${row}: no such locale`);
  }
  const [twice] = repeated(rows.map(({ locale, key }) => `${key} in ${locale}`));
  if (twice !== undefined) throw new Error(`${twice} is named twice`);
  const byLocale = Map.groupBy(rows, (row) => row.locale);
  return (locale) => new Map((byLocale.get(locale) ?? []).map(({ key, name }) => [key, name]));
}

/** The names of `curated/english-spellings.csv`: their languages have no other than the English one. */
export function readEnglishSpellings(): readonly Omit<GivenName, "name">[] {
  return readCurated<"code" | "locales">("english-spellings").flatMap(({ code, locales }) =>
    locales.split(" ").map((locale) => ({ locale, key: regionKey(code) })),
  );
}

/** The key of a region by its code in a curated table: a subdivision's code, or the key itself. */
export function regionKey(code: string): string {
  return code.includes(":") ? code : subdivisionKey(code);
}
