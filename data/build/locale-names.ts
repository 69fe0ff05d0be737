import { memoize } from "../../src/platform/once.ts";
import { existsSync } from "node:fs";
import { packageFile, readPackageJson } from "./packages.ts";
import { inOwnLetters } from "./name-forms.ts";
import type { Qualification } from "./shared-names.ts";

/** Names of territories in one locale, by ISO 3166-1 or UN M49 code, CLDR's `-alt-` variants too. */
export type TerritoryNames = ReadonlyMap<string, string>;

interface TerritoriesDocument {
  readonly main: Readonly<
    Record<
      string,
      { readonly localeDisplayNames: { readonly territories: Readonly<Record<string, string>> } }
    >
  >;
}
interface PatternDocument {
  readonly main: Readonly<
    Record<
      string,
      {
        readonly localeDisplayNames: {
          readonly localeDisplayPattern: { readonly localePattern: string };
        };
      }
    >
  >;
}

/** CLDR's territory names in a locale; empty when CLDR has no such locale. A name equal to its code is no name. */
export const readTerritoryNames = memoize((locale: string): TerritoryNames => {
  const path = `cldr-localenames-full/main/${locale}/territories.json`;
  if (!existsSync(packageFile(path))) return new Map();
  const names =
    readPackageJson<TerritoriesDocument>(path).main[locale]?.localeDisplayNames.territories ?? {};
  return new Map(
    Object.entries(names)
      .filter(([code, name]) => name !== "" && name !== code)
      .map(([code, name]) => [code, inOwnLetters(name, locale)]),
  );
});

/** Territories whose usual name CLDR adds a relation or another name to: `Hong Kong SAR China`, `Myanmar (Burma)`. */
const LONG_NAMED: ReadonlySet<string> = new Set(["HK", "MM", "MO", "PS"]);

/** A territory's name as people use it in the locale; empty where CLDR has none. */
export function shortTerritoryName(names: TerritoryNames, code: string): string {
  const short = LONG_NAMED.has(code) ? names.get(`${code}-alt-short`) : undefined;
  return short ?? names.get(code) ?? "";
}

/** How a locale adds the country to a name. */
export function readQualification(locale: string): Qualification {
  const names = readTerritoryNames(locale);
  return {
    countryName: (code) => shortTerritoryName(names, code),
    pattern: readQualifiedPattern(locale),
  };
}

/** How a locale puts a name and what qualifies it together, `{0} ({1})`; English's where CLDR has none. */
function readQualifiedPattern(locale: string): string {
  const path = `cldr-localenames-full/main/${locale}/localeDisplayNames.json`;
  if (!existsSync(packageFile(path))) return "{0} ({1})";
  const { localeDisplayNames } = readPackageJson<PatternDocument>(path).main[locale] ?? {};
  return localeDisplayNames?.localeDisplayPattern.localePattern ?? "{0} ({1})";
}
