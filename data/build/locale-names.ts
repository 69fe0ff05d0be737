import { existsSync } from "node:fs";
import { packageFile, readPackageJson } from "./packages.ts";

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
interface ParentsDocument {
  readonly supplemental: {
    readonly parentLocales: { readonly parentLocale: Readonly<Record<string, string>> };
  };
}

/** CLDR's territory names in a locale; empty when CLDR has no such locale. A name equal to its code is no name. */
export function readTerritoryNames(locale: string): TerritoryNames {
  const path = `cldr-localenames-full/main/${locale}/territories.json`;
  if (!existsSync(packageFile(path))) return new Map();
  const names =
    readPackageJson<TerritoriesDocument>(path).main[locale]?.localeDisplayNames.territories ?? {};
  return new Map(Object.entries(names).filter(([code, name]) => name !== "" && name !== code));
}

/** The locale that CLDR inherits names from, or undefined at the top. */
export function readParentLocale(): (locale: string) => string | undefined {
  const { parentLocale } = readPackageJson<ParentsDocument>(
    "cldr-core/supplemental/parentLocales.json",
  ).supplemental.parentLocales;
  return (locale) => {
    const parent = parentLocale[locale] ?? locale.replace(/-?[^-]+$/u, "");
    return parent === "" || parent === "und" || parent === "root" ? undefined : parent;
  };
}
