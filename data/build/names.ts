import { readChineseNames } from "./chinese.ts";
import { readCurated } from "./curated.ts";
import { readParentLocale, readTerritoryNames } from "./locale-names.ts";
import { type CatalogRegion, countryOfRegion } from "./catalog-region.ts";
import { localizedSlugs } from "./slugs.ts";
import { readSubdivisionNames, subdivisionLocales } from "./subdivisions.ts";
import { capitalize, tidy } from "./text.ts";

/** One region in one locale; `slug` is empty where the base slug is reused. */
export interface LocalizedRegion {
  readonly key: string;
  readonly name: string;
  readonly slug: string;
}

/** The localized regions of one locale; what it has no name for is absent. */
export interface LocaleNames {
  /** Canonical BCP 47. */
  readonly locale: string;
  /** Share of the airports in subdivisions whose subdivision has a name of this locale's own, 4 decimals. */
  readonly coverage: number;
  /** Whether the locale is ingested unless configured otherwise. */
  readonly isDefault: boolean;
  readonly names: readonly LocalizedRegion[];
}

/** Airports per subdivision key: the weights of coverage. */
export type Weights = ReadonlyMap<string, number>;

/** Names by region key. */
type Names = ReadonlyMap<string, string>;

/** Below this share of subdivision names a locale would be mostly English. */
export const SHIPPED_COVERAGE = 0.6;

/** A bracketed note at the end, which tells a wiki's pages apart: `Teheran (Provinz)`. */
const BRACKETED = /\s*[(（][^()（）]*[)）]$/u;

/** CLDR's own names of a locale for the regions that it knows, freed of what tells a wiki's pages apart. */
function readNames(locale: string, regions: readonly CatalogRegion[]): Names {
  const chinese = locale === "zh" || locale === "zh-Hant";
  const subdivisions = chinese ? readChineseNames(locale) : readSubdivisionNames(locale);
  const territories = readTerritoryNames(locale);
  const names = new Map<string, string>();
  for (const { key, cldr } of regions) {
    if (cldr === null) continue;
    const found = subdivisions.get(cldr) ?? territories.get(cldr);
    if (found === undefined) continue;
    const country = territories.get(countryOfRegion(key)) ?? "";
    names.set(key, capitalize(withoutCountry(tidy(found), country), locale));
  }
  return withoutNotes(names);
}

/** `Bay, Somalia` without the country, in the locale's own comma. */
function withoutCountry(name: string, country: string): string {
  const comma = name.search(/[,،]\s*[^,،]+$/u);
  if (comma < 1 || country === "") return name;
  return tidy(name.slice(comma + 1)) === country ? tidy(name.slice(0, comma)) : name;
}

function bare(name: string): string {
  return name.replace(BRACKETED, "") || name;
}

/** Drops bracketed notes, save where two regions of a country would then have one name. */
function withoutNotes(names: Names): Names {
  const groups = Map.groupBy(names, ([key, name]) => `${countryOfRegion(key)}:${bare(name)}`);
  return new Map(
    [...groups.values()].flatMap((group) =>
      group.map(([key, name]): [string, string] => [key, group.length === 1 ? bare(name) : name]),
    ),
  );
}

/** Names that a person corrected, by locale and region key. */
function readCorrections(): (locale: string) => Names {
  const rows = readCurated<"locale" | "code" | "name">("localized-names");
  const byLocale = Map.groupBy(rows, (row) => row.locale);
  return (locale) =>
    new Map((byLocale.get(locale) ?? []).map((row) => [`iso3166-2:${row.code}`, row.name]));
}

function coverageOf(names: Names, weights: Weights): number {
  let [named, all] = [0, 0];
  for (const [key, airports] of weights) {
    all += airports;
    if (names.has(key)) named += airports;
  }
  return Math.round((named / all) * 1e4) / 1e4;
}

/** What people decided about locales: `default` ones, and `excluded` ones whose names are not fit to be read. */
function readRoles(): ReadonlyMap<string, string> {
  return new Map(readCurated<"locale" | "role">("locales").map((row) => [row.locale, row.role]));
}

/** The locales that name enough subdivisions themselves, by tag; each then also has its CLDR parent's names. */
export function buildLocales(regions: readonly CatalogRegion[], weights: Weights): LocaleNames[] {
  const parentOf = readParentLocale();
  const roles = readRoles();
  const corrections = readCorrections();
  const english = new Map(regions.map((region) => [region.key, region.name]));
  const all = new Map(subdivisionLocales().map((locale) => [locale, readNames(locale, regions)]));
  const locales: LocaleNames[] = [];
  for (const [locale, own] of all) {
    const coverage = coverageOf(own, weights);
    if (coverage < SHIPPED_COVERAGE || roles.get(locale) === "excluded") continue;
    const inherited = all.get(parentOf(locale) ?? "") ?? [];
    const names = new Map([...inherited, ...own, ...corrections(locale)]);
    if (locale === "en") for (const key of names.keys()) names.set(key, english.get(key) ?? "");
    const slugs = localizedSlugs(locale, names, regions);
    const rows = [...names].map(([key, name]) => ({ key, name, slug: slugs.get(key) ?? "" }));
    locales.push({ locale, coverage, isDefault: roles.get(locale) === "default", names: rows });
  }
  return locales;
}
