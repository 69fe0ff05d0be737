import { tidy } from "../../src/catalog/fold.ts";
import anyAscii from "any-ascii";
import { inTraditional, readChineseNames } from "./chinese.ts";
import { readCurated, readCuratedMap } from "./curated.ts";
import { isEnglishTitle } from "./english-titles.ts";
import { type GivenName, givenNames } from "./given-names.ts";
import { exemplarCityFinder } from "./exemplar-cities.ts";
import {
  readParentLocale,
  readQualification,
  readTerritoryNames,
  shortTerritoryName,
} from "./locale-names.ts";
import {
  type CatalogRegion,
  countryOfRegion,
  isSubdivision,
  isTravelRegion,
  subdivisionKey,
} from "./catalog-region.ts";
import { englishForm } from "./english-forms.ts";
import type { NameJudge } from "./name-judge.ts";
import { withoutNamesakes } from "./namesakes.ts";
import { readHeadWords, withoutHeadWords } from "./plain-names.ts";
import { inEnglishNumbering } from "./renumbered.ts";
import { withCountries } from "./shared-names.ts";
import { inEnglishSpelling, makeSounds } from "./sound.ts";
import { localizedSlugs } from "./slugs.ts";
import { readSubdivisionNames, subdivisionLocales } from "./subdivisions.ts";
import { capitalize } from "./text.ts";
import { type Evidence, findWitnesses, type Witness } from "./witnesses.ts";

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
  /** Share of the airports in subdivisions and travel regions whose region has a name of this locale's own, 4 decimals. */
  readonly coverage: number;
  /** The same of the airports with scheduled service. */
  readonly scheduledCoverage: number;
  /** Share of the macro-regions and travel regions with a name of this locale's own, 4 decimals. */
  readonly travelCoverage: number;
  readonly names: readonly LocalizedRegion[];
  /** What says of each name, by region key, that it is the region's. */
  readonly witnesses: ReadonlyMap<string, Witness | Author>;
}

/** Who wrote a name that is not CLDR's: `given` by a person in a curated table, `english` from the sources of the base names. */
export type Author = "given" | "english";

/** The airports of each subdivision and travel region, by region key: the weights of coverage. */
export type Weights = ReadonlyMap<string, ReadonlySet<{ readonly scheduledService: string }>>;

/** Names by region key. */
type Names = ReadonlyMap<string, string>;

/** Below this share of subdivision names a locale would be mostly English. */
export const SHIPPED_COVERAGE = 0.6;

/** A locale with fewer names shows too little of how it writes names. */
const JUDGED_NAMES = 250;

/** A bracketed note at the end, which tells a wiki's pages apart: `Teheran (Provinz)`. */
const BRACKETED = /\s*[(（][^()（）]*[)）]$/u;

const citiesOf = exemplarCityFinder();
const sounds = makeSounds(anyAscii);
const headWords = readHeadWords(subdivisionLocales());
const formerNames = readFormerNames();

/** CLDR's own names of a locale for the regions that it knows, freed of what tells a wiki's pages apart. */
function readNames(locale: string, regions: readonly CatalogRegion[]): Names {
  const chinese = locale === "zh" || locale === "zh-Hant";
  const subdivisions = inEnglishNumbering(
    chinese ? readChineseNames(locale) : readSubdivisionNames(locale),
    regions,
    sounds,
  );
  const territories = readTerritoryNames(locale);
  const cityName = citiesOf(locale);
  const isOwn = (name: string, english: string, country: string) =>
    name !== "" && (locale === "en" || !isEnglishTitle(bare(name), english, country));
  const isFormer = (key: string, name: string) =>
    locale !== "en" && sounds.sharesSound(name, formerNames.get(key) ?? "");
  const names = new Map<string, string>();
  for (const { key, bareName, cldr } of regions) {
    const country = territories.get(countryOfRegion(key)) ?? "";
    const found =
      cldr
        .map((code) => subdivisions.get(code) ?? shortTerritoryName(territories, code))
        .map((name) => withoutCountry(tidy(name), country))
        .find((name) => isOwn(name, bareName, countryOfRegion(key)) && !isFormer(key, name)) ??
      cityName(countryOfRegion(key), bareName);
    if (found !== undefined) names.set(key, capitalize(found, locale));
  }
  return withoutNotes(names);
}

/**
 * The names of all locales, other than English, that have enough of them to judge one by
 * the others.
 */
export function readAllNames(regions: readonly CatalogRegion[]): ReadonlyMap<string, Names> {
  return new Map(
    subdivisionLocales()
      .filter((locale) => locale !== "en")
      .map((locale) => [locale, readNames(locale, regions)] as const)
      .filter(([, names]) => names.size >= JUDGED_NAMES),
  );
}

/** Names as travellers say them. */
function plainNames(
  locale: string,
  names: Names,
  { regions, judge }: { readonly regions: readonly CatalogRegion[]; readonly judge: NameJudge },
): Names {
  return withoutHeadWords({
    locale,
    names,
    regions,
    words: headWords.get(locale),
    sharesOnset: (name, english) =>
      [name, inEnglishSpelling(name, locale)].some((one) => sounds.sharesOnset(one, english)),
    toAscii: anyAscii,
    unexplained: (name, english) => judge.unexplained(name, englishForm(english)),
    hasHead: judge.vocabulary.hasHead,
  });
}

/** The words of names that were given up, by region key: a locale's name that has one is no longer true. */
function readFormerNames(): Names {
  return new Map(
    readCurated<"code" | "former">("region-names").map(({ code, former }) => [
      subdivisionKey(code),
      former,
    ]),
  );
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

/** Drops the bracketed notes of subdivisions, save where two of a country would then have one name. */
function withoutNotes(names: Names): Names {
  const groups = Map.groupBy(names, ([key, name]) => `${countryOfRegion(key)}:${bare(name)}`);
  return new Map(
    [...groups].flatMap(([id, group]) =>
      group.map(([key, name]): [string, string] => [
        key,
        group.length === 1 && !id.startsWith(":") ? bare(name) : name,
      ]),
    ),
  );
}

/** The corrections by subdivision code, and the names of regions that no standard has. */
function readGivenNames(): GivenName[] {
  const corrections = readCurated<"locale" | "code" | "name">("localized-names");
  return [
    ...corrections.map(({ locale, code, name }) => ({
      locale,
      key: code.includes(":") ? code : subdivisionKey(code),
      name,
    })),
    ...readCurated<"locale" | "key" | "name">("travel-region-names"),
  ];
}

/**
 * Share of the weights' airports, all or those with scheduled service, whose region is named. The
 * base names of travel regions are English.
 */
function coverageOf(
  locale: string,
  names: Names,
  { weights, onlyScheduled }: { readonly weights: Weights; readonly onlyScheduled: boolean },
): number {
  let [named, all] = [0, 0];
  for (const [key, airports] of weights) {
    const counted = [...airports].filter(
      ({ scheduledService }) => !onlyScheduled || scheduledService === "yes",
    ).length;
    all += counted;
    if (names.has(key) || (locale === "en" && isTravelRegion(key))) named += counted;
  }
  return round(named / all);
}

const round = (share: number): number => Math.round(share * 1e4) / 1e4;

/** Share of the macro-regions and travel regions that are named; the base names are English. */
function travelCoverageOf(locale: string, names: Names, regions: readonly CatalogRegion[]): number {
  const keys = regions.map(({ key }) => key).filter((key) => !isSubdivision(key));
  return round(keys.filter((key) => locale === "en" || names.has(key)).length / keys.length);
}

/**
 * The locales that name enough subdivisions themselves, by tag. CLDR's parent of a locale lends it
 * its names, which are of the same language.
 */
export function buildLocales(
  regions: readonly CatalogRegion[],
  spares: readonly CatalogRegion[],
  { weights, evidence }: { readonly weights: Weights; readonly evidence: Evidence },
): LocaleNames[] {
  const parentOf = readParentLocale();
  const excluded = readCuratedMap("excluded-locales", "locale", "reason");
  const given = givenNames(readGivenNames(), regions, new Set(subdivisionLocales()));
  const everywhere = [...regions, ...spares];
  const ofSubdivisions = new Map([...weights].filter(([key]) => isSubdivision(key)));
  const found = readAllNames(everywhere);
  checkConfirmed(found);
  const { witnessed, judges } = findWitnesses(found, evidence);
  /** Those of a locale's names that have a witness, as travellers say them. */
  const trueNames = (locale: string, among: readonly CatalogRegion[]): Names => {
    const names = readNames(locale, among);
    const judge = judges.get(locale)?.judge;
    if (judge === undefined) return locale === "en" ? names : new Map();
    const own = [...names].flatMap(([key, name]): [string, string][] => {
      const witness = found.get(locale)?.get(key) === name && witnessed.get(locale)?.get(key);
      return witness ? [[key, witness.name]] : [];
    });
    return plainNames(locale, new Map(own), { regions: among, judge });
  };
  const all = new Map(subdivisionLocales().map((locale) => [locale, trueNames(locale, regions)]));
  const spareNames = new Map(
    subdivisionLocales().map((locale) => [locale, trueNames(locale, everywhere)]),
  );
  const locales: LocaleNames[] = [];
  for (const [locale, own] of all) {
    if (excluded.has(locale)) continue;
    if (
      coverageOf(locale, own, { weights: ofSubdivisions, onlyScheduled: false }) < SHIPPED_COVERAGE
    )
      continue;
    const inherited = all.get(parentOf(locale) ?? "") ?? [];
    const ofSpares = new Map([
      ...(spareNames.get(parentOf(locale) ?? "") ?? []),
      ...(spareNames.get(locale) ?? []),
    ]);
    const typed = typedNames(locale, given);
    const names = withoutNamesakes({
      names: new Map([...inherited, ...own, ...typed]),
      given: typed,
      regions,
      soundsLike: sounds.soundsLike,
    });
    const rows = [
      ...localizedRegions(locale, names, regions),
      ...localizedSpares(locale, names, { regions, spares, found: ofSpares }),
    ];
    const witnessOf = (key: string): Witness | Author => {
      if (typed.has(key)) return "given";
      if (locale === "en") return "english";
      const witness = [locale, parentOf(locale) ?? ""]
        .map((one) => witnessed.get(one)?.get(key)?.witness)
        .find((one) => one !== undefined);
      if (witness === undefined) throw new Error(`${key} in ${locale} has no witness`);
      return witness;
    };
    locales.push({
      locale,
      coverage: coverageOf(locale, names, { weights, onlyScheduled: false }),
      scheduledCoverage: coverageOf(locale, names, { weights, onlyScheduled: true }),
      travelCoverage: travelCoverageOf(locale, names, regions),
      names: rows,
      witnesses: new Map(rows.map(({ key }) => [key, witnessOf(key)])),
    });
  }
  return locales;
}

/** @throws Error that names a row of `confirmed-names.csv` whose name CLDR does not have. */
function checkConfirmed(found: ReadonlyMap<string, Names>): void {
  for (const { locale, code, name } of readCurated<"locale" | "code" | "name">("confirmed-names"))
    if (found.get(locale)?.get(subdivisionKey(code)) !== name)
      throw new Error(
        `confirmed-names.csv: ${name} in ${locale} of ${code}: CLDR has no such name`,
      );
}

/** The names that people gave in a locale. Those in Chinese are written in its other scripts too. */
function typedNames(locale: string, given: (locale: string) => Names): Names {
  const own = given(locale);
  const chinese = given("zh");
  const travel = new Map([...chinese].filter(([key]) => isTravelRegion(key)));
  if (locale === "zh-Hant") return inTraditional(chinese, own);
  if (locale === "yue") return inTraditional(travel, own);
  return locale === "yue-Hans" ? new Map([...travel, ...own]) : own;
}

/** The rows of the regions without an airport. Those of the others do not depend on them. */
function localizedSpares(
  locale: string,
  names: Names,
  {
    regions,
    spares,
    found,
  }: {
    readonly regions: readonly CatalogRegion[];
    readonly spares: readonly CatalogRegion[];
    readonly found: Names;
  },
): LocalizedRegion[] {
  const everywhere = [...regions, ...spares];
  const keys = new Set(spares.map(({ key }) => key));
  const own = [...found].filter(([key]) => keys.has(key));
  const distinct = withoutNamesakes({
    names: new Map([...names, ...own]),
    given: new Map(regions.map(({ key, bareName }) => [key, bareName])),
    regions: everywhere,
    soundsLike: sounds.soundsLike,
  });
  return localizedRegions(locale, distinct, everywhere).filter(({ key }) => keys.has(key));
}

/** The rows of a locale: names with their countries where these are needed, and slugs without. */
function localizedRegions(
  locale: string,
  names: Names,
  regions: readonly CatalogRegion[],
): LocalizedRegion[] {
  const english = locale === "en";
  const bare = regions.map(({ key, bareName }): [string, string] => [
    key,
    english ? bareName : (names.get(key) ?? bareName),
  ]);
  const qualified = withCountries(new Map(bare), readQualification(locale));
  const slugs = localizedSlugs(locale, english ? new Map(bare) : names, regions);
  return [...names.keys()].map((key) => ({
    key,
    name: qualified.get(key) ?? "",
    slug: slugs.get(key) ?? "",
  }));
}
