import { countryOfRegion, isSubdivision, isTravelRegion } from "./catalog-region.ts";
import { isEnglishTitle } from "./english-titles.ts";
import type { Findings } from "./findings.ts";
import { readEnglishSpellings } from "./given-names.ts";
import { readFacts } from "./facts.ts";
import { HALF_WORD, readHeadWords, UNSPACED } from "./plain-names.ts";
import { listMembers } from "./region-members.ts";
import { airportsOfRegion, membersOf } from "./served-airports.ts";
import { readSnapshotTable, type Tables } from "./snapshot-reader.ts";

/** An airport is in one subdivision or territory at most; with scheduled service, in one. */
export function checkPlaces(tables: Tables, findings: Findings): void {
  const placed = tables.regions
    .filter(({ key = "" }) => isSubdivision(key))
    .flatMap(airportsOfRegion(tables))
    .map((airport) => airport["iata_code"] ?? "");
  findings.unique(placed, "subdivisions of an airport");
  const known = new Set(placed);
  findings.every(
    tables.airports.filter((row) => row["scheduled_service"] === "yes"),
    (row) => known.has(row["iata_code"] ?? ""),
    "an airport with scheduled service is in a subdivision or territory",
  );
}

/** `facts/region-members.csv` and `facts/region-names.csv`: a wrong join, or a rule for names that is gone, would break them. */
export function checkRegionJoins(tables: Tables, findings: Findings): void {
  const regions = new Map(tables.regions.map((row) => [row["key"], row]));
  for (const { key, members } of readFacts<"key" | "members">("region-members", ["key"])) {
    const its = new Set(membersOf(regions.get(key)));
    const missing = listMembers(members).filter((member) => !its.has(member));
    findings.equal(missing.join(" "), "", `members that ${key} lacks`);
  }
  const names = readFacts<"locale" | "key" | "name">("region-names", ["locale", "key"]);
  for (const [locale, facts] of Map.groupBy(names, (fact) => fact.locale)) {
    const rows = readSnapshotTable(`names/${locale}.json.gz`);
    for (const { key, name } of facts)
      findings.equal(
        (rows.find((row) => row["key"] === key) ?? regions.get(key))?.["name"],
        name,
        `${key} in ${locale}`,
      );
  }
}

/** Locales that name no travel region: English has their base names; nobody wrote them in Chakma yet. */
const WITHOUT_TRAVEL_REGIONS: ReadonlySet<string> = new Set(["ccp", "en"]);

/** Each locale names each travel region. */
export function checkTravelRegions(tables: Tables, findings: Findings): void {
  const keys = tables.regions.map(({ key = "" }) => key).filter(isTravelRegion);
  for (const { locale } of tables.manifest.locales) {
    if (WITHOUT_TRAVEL_REGIONS.has(locale)) continue;
    const named = new Set(readSnapshotTable(`names/${locale}.json.gz`).map(({ key }) => key));
    const missing = keys.filter((key) => !named.has(key));
    findings.equal(missing.join(" "), "", `travel regions that ${locale} does not name`);
  }
}

/** No name of another language is English, save those that people wrote, such as Gold Coast. */
export function checkNoEnglish(tables: Tables, findings: Findings): void {
  const english = new Map(tables.regions.map((row) => [row["key"], row["name"] ?? ""]));
  const written = new Set(readEnglishSpellings().map(({ locale, key }) => `${locale} ${key}`));
  for (const { locale } of tables.manifest.locales) {
    if (locale === "en") continue;
    findings.every(
      readSnapshotTable(`names/${locale}.json.gz`),
      ({ key = "", name = "" }) =>
        isTravelRegion(key) ||
        written.has(`${locale} ${key}`) ||
        !isEnglishTitle(name, english.get(key) ?? "", countryOfRegion(key)),
      `${locale} has no English`,
    );
  }
}

/** A name with the only mark of quotation at its beginning or end. */
const HALF_QUOTED = /^(?:["„“”«»][^"„“”«»]*|[^"„“”«»]*["„“”«»])$/u;

/** No name has half a bracket, a mark of quotation at one end, or an "of" before it. */
export function checkForms(tables: Tables, findings: Findings): void {
  const headWords = readHeadWords(tables.manifest.locales.map(({ locale }) => locale));
  for (const { locale } of tables.manifest.locales) {
    const links = headWords.get(locale)?.links ?? [];
    findings.every(
      readSnapshotTable(`names/${locale}.json.gz`),
      ({ name = "" }) =>
        name.match(/[(（]/gu)?.length === name.match(/[)）]/gu)?.length &&
        !HALF_QUOTED.test(name) &&
        !links.some((link) => name.startsWith(`${link} `)),
      `${locale} names are in good form`,
    );
  }
}

/** No name in a locale without spaces ends in the middle of the word for the kind of region. */
export function checkWholeWords(tables: Tables, findings: Findings): void {
  for (const { locale } of tables.manifest.locales.filter((one) => UNSPACED.has(one.locale)))
    findings.every(
      readSnapshotTable(`names/${locale}.json.gz`),
      ({ name = "" }) => !HALF_WORD.test(name),
      `${locale} names end with a whole word`,
    );
}
