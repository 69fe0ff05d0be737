import { isRecord } from "./shape.ts";

/**
 * `/search/v1/cities/<locale>.json`: what readers of a language call the busiest cities, where that
 * is not the English name.
 */
export interface CityNamesFile {
  /** IATA codes of an airport of each city, three letters each. */
  readonly airports: string;
  /** With | between them. */
  readonly names: string;
}

/** Whether a file is one: a service may answer with anything. */
export function isCityNamesFile(file: unknown): file is CityNamesFile {
  return (
    isRecord(file) && typeof file["airports"] === "string" && typeof file["names"] === "string"
  );
}

/** Names of cities by the IATA code of an airport; none without the file. */
export function readCityNames(file: CityNamesFile | undefined): ReadonlyMap<string, string> {
  const names = file?.names.split("|") ?? [];
  const airports = file?.airports.match(/.../g) ?? [];
  return new Map(airports.map((iata, position) => [iata, names[position] ?? ""]));
}

/**
 * The locales that have such a file.
 *
 * @public for `data/test`
 */
export const CITY_NAME_LOCALES =
  "af ar az be bg bn ca ccp cs cy da de el es et eu fa fi fr ga gl gu he hi hr hu hy id it ja ka kn ko lt lv mk mr ms nl no pl pt ro ru si sk sl sr sr-Latn sv sw ta te th tr uk ur uz vi yue yue-Hans zh zh-Hant".split(
    " ",
  );

/** The locale of the file for a language tag; undefined where there is none, as for English. */
export function cityNameLocale(tag: string): string | undefined {
  const [canonical = "en"] = canonicalTags(tag.replaceAll("_", "-"));
  const { language, script } = new Intl.Locale(canonical).maximize();
  const plain = language === "nb" || language === "nn" ? "no" : language;
  return [`${plain}-${script}`, plain].find((locale) => CITY_NAME_LOCALES.includes(locale));
}

function canonicalTags(tag: string): string[] {
  try {
    return Intl.getCanonicalLocales(tag);
  } catch {
    return [];
  }
}
