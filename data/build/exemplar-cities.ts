import { existsSync } from "node:fs";
import { foldText } from "../../src/catalog/fold.ts";
import { memoize } from "../../src/platform/once.ts";
import { packageFile, readPackageText } from "./packages.ts";

const COMMON = "cldr/3rdparty/cldr/common";
const ZONE = /<type name="([a-z]{2})[a-z0-9]+" description="[^"]*" alias="(\S+?)[ "]/gu;
const CITY = /<zone type="([^"]+)">(?:(?!<\/zone>).)*?<exemplarCity[^>]*>([^<]+)</gsu;

/** CLDR's time zones by country and folded English name of the city that stands for them: `ZW:harare`. */
function readZones(): ReadonlyMap<string, string> {
  const english = readExemplarCities("en");
  const zones = new Map<string, string>();
  for (const [, country = "", zone = ""] of readPackageText(
    `${COMMON}/bcp47/timezone.xml`,
  ).matchAll(ZONE)) {
    const city = english.get(zone) ?? zone.split("/").at(-1) ?? "";
    zones.set(cityKey(country.toUpperCase(), city), zone);
  }
  return zones;
}

const cityKey = (country: string, name: string): string => `${country}:${foldText(name)}`;

/** The cities of CLDR's time zones in a locale, by zone. */
const readExemplarCities = memoize((locale: string): ReadonlyMap<string, string> => {
  const path = `${COMMON}/main/${locale.replaceAll("-", "_")}.xml`;
  if (!existsSync(packageFile(path))) return new Map();
  const found = readPackageText(path).matchAll(CITY);
  return new Map([...found].map(([, zone = "", city = ""]) => [zone, city]));
});

/** CLDR's cities of time zones: their countries, folded English names, and names in these locales. */
export function cldrCities(
  locales: readonly string[],
): readonly { readonly country: string; readonly english: string; readonly names: string[] }[] {
  const cities = locales.map(readExemplarCities);
  return [...readZones()].map(([key, zone]) => {
    const [country = "", english = ""] = key.split(":");
    return { country, english, names: cities.map((names) => names.get(zone) ?? "") };
  });
}

/**
 * Finds a locale's name of a city that a time zone is named after, by its country and English name:
 * it names the subdivision that has the city's name, such as Havana, where CLDR has no other.
 */
export function exemplarCityFinder(): (
  locale: string,
) => (country: string, name: string) => string | undefined {
  const zones = readZones();
  return (locale) => {
    const cities = readExemplarCities(locale);
    return (country, name) => cities.get(zones.get(cityKey(country, name)) ?? "");
  };
}
