import { writeFileSync } from "node:fs";
import anyAscii from "any-ascii";
import { tidy } from "../../src/catalog/fold.ts";
import { inTraditional, readChineseNames } from "./chinese.ts";
import { toCsv } from "./csv.ts";
import { readCurated } from "./curated.ts";
import { isEnglishTitle } from "./english-titles.ts";
import { type GivenName, givenNames, readEnglishSpellings, regionKey } from "./given-names.ts";
import { exemplarCityFinder } from "./exemplar-cities.ts";
import { readQualification, readTerritoryNames, shortTerritoryName } from "./locale-names.ts";
import {
  type CatalogRegion,
  codeOfRegion,
  countryOfRegion,
  isSubdivision,
  isTravelRegion,
  subdivisionKey,
} from "./catalog-region.ts";
import { wellFormed } from "./name-forms.ts";
import { withoutNamesakes } from "./namesakes.ts";
import { ownScripts } from "./own-scripts.ts";
import { readHeadWords, withoutHeadWords } from "./plain-names.ts";
import { inEnglishNumbering } from "./renumbered.ts";
import { withCountries } from "./shared-names.ts";
import { inEnglishSpelling, makeSounds } from "./sound.ts";
import { localizedSlugs } from "./slugs.ts";
import { readSubdivisionNames, subdivisionLocales } from "./subdivisions.ts";
import { capitalize } from "./text.ts";
import { describeName, type RegionName, type Verdicts } from "./verdicts.ts";
import { type Evidence, findWitnesses, type WitnessedNames } from "./witnesses.ts";

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
}

/** The airports of each subdivision and travel region, by region key: the weights of coverage. */
export type Weights = ReadonlyMap<string, ReadonlySet<{ readonly scheduledService: string }>>;

/** Names by region key. */
type Names = ReadonlyMap<string, string>;

/** The names at which a build stopped because nothing decides on them. */
const UNDECIDED_NAMES = new URL("../undecided-names.csv", import.meta.url);

/** A bracketed note at the end, which tells a wiki's pages apart: `Teheran (Provinz)`. */
const BRACKETED = /\s*[(（][^()（）]*[)）]$/u;

const citiesOf = exemplarCityFinder();
const scriptOf = ownScripts();
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

/** CLDR's names in these locales, other than those that people replaced. */
export function readAllNames(
  regions: readonly CatalogRegion[],
  locales: readonly string[],
  typed: (locale: string) => Names,
): readonly RegionName[] {
  return locales.flatMap((locale) => {
    const replaced = typed(locale);
    return [...readNames(locale, regions)]
      .filter(([key]) => !replaced.has(key))
      .map(([key, name]) => ({ locale, key, name }));
  });
}

/** Names as travellers say them, in good form. */
function plainNames(
  locale: string,
  names: Names,
  {
    regions,
    plainOf,
  }: { readonly regions: readonly CatalogRegion[]; readonly plainOf: Verdicts["plainOf"] },
): Names {
  const plain = withoutHeadWords({
    locale,
    names,
    regions,
    words: headWords.get(locale),
    listed: (key, name) => plainOf({ locale, key, name }),
    sharesOnset: (name, english) =>
      [name, inEnglishSpelling(name, locale)].some((one) => sounds.sharesOnset(one, english)),
    toAscii: anyAscii,
  });
  const english = new Map(regions.map(({ key, bareName }) => [key, bareName]));
  const inForm = (key: string, name: string) =>
    wellFormed(name, {
      locale,
      english: english.get(key) ?? "",
      isTransliterated: scriptOf(countryOfRegion(key)) !== undefined,
      soundsLike: sounds.soundsLike,
    });
  return new Map(
    [...plain].map(([key, name]) => [key, countryOfRegion(key) === "" ? name : inForm(key, name)]),
  );
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

/**
 * The corrections by subdivision code, the names that languages write as English does, and those of
 * regions that no standard has.
 */
function readGivenNames(regions: readonly CatalogRegion[]): GivenName[] {
  const english = new Map(regions.map(({ key, bareName }) => [key, bareName]));
  return [
    ...readCurated<"locale" | "code" | "name">("localized-names").map(
      ({ locale, code, name }): GivenName => ({ locale, key: regionKey(code), name }),
    ),
    ...readEnglishSpellings().map(({ locale, key }): GivenName => ({
      locale,
      key,
      name: english.get(key) ?? "",
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

/** Locales that are written with the names of another where they have none of their own. */
const LENDERS: ReadonlyMap<string, string> = new Map([
  ["yue", "zh-Hant"],
  ["yue-Hans", "zh"],
]);

/** The locales of the verdicts, and English, by tag. */
export function buildLocales(
  regions: readonly CatalogRegion[],
  spares: readonly CatalogRegion[],
  {
    weights,
    verdicts,
    evidence,
  }: { readonly weights: Weights; readonly verdicts: Verdicts; readonly evidence: Evidence },
): LocaleNames[] {
  const everywhere = [...regions, ...spares];
  const given = givenNames(readGivenNames(everywhere), everywhere, new Set(subdivisionLocales()));
  const typedIn = (locale: string) => typedNames(locale, given);
  const ofRegions = namesAmong(regions);
  const found = readAllNames(everywhere, verdicts.locales, typedIn);
  checkRows(verdicts, found);
  const judged = findWitnesses(found, evidence);
  checkWitnessed(judged, everywhere);
  const taken = new Set(judged.taken.map(describeName));
  /** Those of a locale's names that were taken, as travellers say them. */
  const trueNames = (locale: string, among: readonly CatalogRegion[]): Names => {
    const names = readNames(locale, among);
    if (locale === "en") return names;
    const own = [...names].filter(([key, name]) => taken.has(describeName({ locale, key, name })));
    return plainNames(locale, new Map(own), { regions: among, plainOf: verdicts.plainOf });
  };
  const tags = ["en", ...verdicts.locales].toSorted();
  const all = new Map(tags.map((locale) => [locale, trueNames(locale, regions)]));
  const spareNames = new Map(tags.map((locale) => [locale, trueNames(locale, everywhere)]));
  return tags.map((locale) => {
    const lender = LENDERS.get(locale) ?? "";
    const typed = typedIn(locale);
    const lent: Names = lender === "" ? new Map() : typedIn(lender);
    const names = withoutNamesakes({
      names: ofRegions([all.get(lender), lent, all.get(locale), typed]),
      given: typed,
      regions,
      soundsLike: sounds.soundsLike,
    });
    const ofSpares = namesAmong(spares)([
      spareNames.get(lender),
      lent,
      spareNames.get(locale),
      typed,
    ]);
    return {
      locale,
      coverage: coverageOf(locale, names, { weights, onlyScheduled: false }),
      scheduledCoverage: coverageOf(locale, names, { weights, onlyScheduled: true }),
      travelCoverage: travelCoverageOf(locale, names, regions),
      names: [
        ...localizedRegions(locale, names, regions),
        ...localizedSpares(locale, names, { regions, spares, found: ofSpares }),
      ],
    };
  });
}

/** Merges names, of which later ones count, and leaves out those of other regions. */
function namesAmong(
  regions: readonly CatalogRegion[],
): (sources: readonly (Names | undefined)[]) => Names {
  const keys = new Set(regions.map(({ key }) => key));
  return (sources) =>
    new Map(sources.flatMap((names) => [...(names ?? [])]).filter(([key]) => keys.has(key)));
}

/** @throws Error that lists the rows about names that CLDR does not have, or that people replaced. */
function checkRows({ rows }: Verdicts, found: readonly RegionName[]): void {
  const known = new Set(found.map(describeName));
  const stale = [...rows].flatMap(([file, names]) =>
    names.map(describeName).flatMap((name) => (known.has(name) ? [] : `${file}: ${name}`)),
  );
  if (stale.length > 0)
    throw new Error(
      `CLDR has no such name, or localized-names.csv replaces it; delete the row:\n${stale.join("\n")}`,
    );
}

/**
 * Names on which nothing decides are written to `data/undecided-names.csv`.
 *
 * @throws Error that lists the names that a person must look at.
 */
function checkWitnessed(
  { undecided, contradicted }: WitnessedNames,
  regions: readonly CatalogRegion[],
): void {
  if (contradicted.length > 0)
    throw new Error(
      `Witnesses give these names to another region of the country; move each to refused-names.csv, or replace it in localized-names.csv:\n${contradicted.map(describeName).join("\n")}`,
    );
  if (undecided.length === 0) return;
  const english = new Map(regions.map(({ key, bareName }) => [key, bareName]));
  const rows = undecided.map(({ locale, key, name }) => [
    locale,
    codeOfRegion(key),
    name,
    english.get(key) ?? "",
  ]);
  writeFileSync(UNDECIDED_NAMES, toCsv({ columns: ["locale", "code", "name", "english"], rows }));
  throw new Error(
    `No table and no witness decides on these names; move each row of data/undecided-names.csv to confirmed-names.csv or refused-names.csv, with a reason in place of the English name:\n${undecided.map(describeName).join("\n")}`,
  );
}

/** The names that people gave in a locale. Those in Chinese are written in its traditional script too. */
function typedNames(locale: string, given: (locale: string) => Names): Names {
  const own = given(locale);
  return locale === "zh-Hant" ? inTraditional(given("zh"), own) : own;
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
  const distinct = withoutNamesakes({
    names: new Map([...names, ...found]),
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
