import anyAscii from "any-ascii";
import { type CatalogRegion, codeOfRegion, ownCountry, subdivisionKey } from "./catalog-region.ts";
import { inBothScripts } from "./chinese.ts";
import { readCityNames } from "./cities-of-regions.ts";
import { readCurated } from "./curated.ts";
import { readTerritoryNames, shortTerritoryName } from "./locale-names.ts";
import { readHeadWords } from "./plain-names.ts";
import type { RegionRow } from "./regions.ts";
import { readVettedSubdivisions, subdivisionLocales } from "./subdivisions.ts";
import { capitalize } from "./text.ts";
import { type Evidence, RegionForms } from "./witnesses.ts";

/** Reads what the names of regions are judged by. */
export async function readEvidence(
  regions: readonly CatalogRegion[],
  rows: readonly RegionRow[],
): Promise<Evidence> {
  const upstream = new Map(rows.map(({ code, name }) => [code, name]));
  const cldr = new Map(regions.map((region) => [region.key, region.cldr]));
  const otherNames = (key: string) => [upstream.get(codeOfRegion(key)) ?? ""];
  const forms = new RegionForms({ regions, otherNames });
  const confirmed = readConfirmedNames();
  return {
    regions,
    otherNames,
    headWords: readHeadWords(subdivisionLocales()),
    toAscii: anyAscii,
    countryName: (locale, country) => shortTerritoryName(readTerritoryNames(locale), country),
    isVetted: (locale, key, name) => {
      const territories = readTerritoryNames(locale);
      const vetted = readVettedSubdivisions(locale);
      return (cldr.get(key) ?? []).some(
        (code) =>
          vetted.has(code) || capitalize(shortTerritoryName(territories, code), locale) === name,
      );
    },
    cityNames: await readCityNames(
      regions.flatMap(({ key }) => forms.all(key).map((form) => [ownCountry(key), form] as const)),
    ),
    confirmed: (locale, key, name) =>
      [locale, CHINESE.test(locale) ? "zh" : locale].some((one) =>
        inBothScripts(name).some((written) => confirmed.has(`${one} ${key} ${written}`)),
      ),
  };
}

/** Locales whose names are Chinese, in either script. */
const CHINESE = /^(?:zh|yue)/u;

/** The rows of `confirmed-names.csv`: locale, region key and name. */
function readConfirmedNames(): ReadonlySet<string> {
  const rows = readCurated<"locale" | "code" | "name">("confirmed-names");
  return new Set(rows.map(({ locale, code, name }) => `${locale} ${subdivisionKey(code)} ${name}`));
}
