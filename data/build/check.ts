import { gunzipSync } from "node:zlib";
import { foldText } from "../../src/catalog/fold.ts";
import {
  checkAirportFacts,
  checkCountryFacts,
  checkGoneAirports,
  checkRegionFacts,
} from "./check-facts.ts";
import { ACROSS_A_BORDER } from "./cities.ts";
import { countryOfRegion, ownCountry } from "./catalog-region.ts";
import { checkCorrections } from "./check-corrections.ts";
import { checkLicenses } from "./check-licenses.ts";
import {
  checkForms,
  checkNoEnglish,
  checkPlaces,
  checkRegionJoins,
  checkTravelRegions,
  checkWholeWords,
} from "./check-regions.ts";
import { Findings } from "./findings.ts";
import { airportsOfRegion } from "./served-airports.ts";
import {
  readSnapshotFile,
  readSnapshotTable,
  readTables,
  type Row,
  type Tables,
} from "./snapshot-reader.ts";
import { sha256, snapshotHash } from "./write.ts";

const MIN_COVERAGE = 0.6;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/u;

function isTidy(text: string | undefined): boolean {
  return (
    text !== undefined &&
    text !== "" &&
    text === text.trim() &&
    text === text.normalize("NFC") &&
    !/\s\s/u.test(text)
  );
}

function inRange(text: string | undefined, limit: number): boolean {
  return Math.abs(Number(text || "NaN")) <= limit;
}

function column(rows: readonly Row[], name: string): string[] {
  return rows.map((row) => row[name] ?? "");
}

function checkFiles({ manifest }: Tables, findings: Findings): void {
  for (const [name, entry] of Object.entries(manifest.files)) {
    const bytes = readSnapshotFile(name);
    findings.equal(sha256(bytes), entry.sha256, `${name} sha256`);
    findings.equal(bytes.length, entry.bytes, `${name} bytes`);
    findings.equal(sha256(gunzipSync(bytes)), entry.content_sha256, `${name} content_sha256`);
    findings.equal(readSnapshotTable(name).length, entry.rows, `${name} rows`);
  }
  findings.equal(snapshotHash(manifest.files), manifest.snapshot, "snapshot hash");
}

function checkCounts(tables: Tables, findings: Findings): void {
  const { counts } = tables.manifest;
  findings.equal(tables.airports.length, counts.airports, "airports");
  findings.equal(tables.cities.length, counts.cities, "cities");
  findings.equal(tables.countries.length, counts.countries, "countries");
  findings.equal(tables.regions.length, counts.regions + counts.spare_regions, "regions");
  findings.equal(tables.airportCities.length, counts.airports, "airports with a city");
  findings.unique(column(tables.airports, "iata_code"), "IATA codes");
  findings.unique(column(tables.airports, "id"), "ids of airports");
  findings.equal(counts.countries, 250, "countries: ISO 3166-1 and XK");
}

function checkReferences(tables: Tables, findings: Findings): void {
  const countries = new Set(column(tables.countries, "iso_code2"));
  const cities = new Set(column(tables.cities, "key"));
  const airports = new Set(column(tables.airports, "id"));
  const used = new Set(column(tables.airportCities, "city_key"));
  const known = (set: ReadonlySet<string>, name: string) => (row: Row) => set.has(row[name] ?? "");
  findings.every(tables.cities, known(countries, "country"), "a city's country is a country");
  findings.every(tables.cities, known(used, "key"), "a city has an airport");
  findings.every(
    tables.airports,
    known(countries, "iso_country"),
    "an airport's country is a country",
  );
  findings.every(tables.airportCities, known(cities, "city_key"), "an airport's city is a city");
  findings.every(
    tables.airportCities,
    known(airports, "airport_id"),
    "a joined airport is an airport",
  );
  findings.every(tables.places, known(cities, "city_key"), "a place's city is a city");
  const countryOf = new Map(tables.cities.map((row) => [row["key"], row["country"]]));
  const cityKeys = new Map(tables.airportCities.map((row) => [row["airport_id"], row["city_key"]]));
  findings.every(
    tables.airports,
    ({ id, iso_country: country, iata_code: iata = "" }) =>
      countryOf.get(cityKeys.get(id)) === country || ACROSS_A_BORDER.has(iata),
    "an airport's city is in its country",
  );
  const nameOf = ({ region = "", name = "" }: Row) => `${region} ${foldText(name)}`;
  const isOurs = ({ key = "" }: Row) => key.startsWith("ourairports:");
  const real = new Set(tables.cities.filter((row) => !isOurs(row)).map(nameOf));
  findings.every(
    tables.cities.filter(isOurs),
    (row) => !real.has(nameOf(row)),
    "a city that GeoNames lacks has no name of another in its subdivision",
  );
  findings.every(
    tables.cities,
    ({ name = "" }) => !/[()[\]{}/]/u.test(name),
    "a city's name has no brackets or slashes",
  );
  const airportsOf = airportsOfRegion(tables);
  const spare = tables.regions.filter((region) => airportsOf(region).length === 0);
  findings.equal(spare.length, tables.manifest.counts.spare_regions, "regions without an airport");
  findings.every(
    spare,
    ({ key = "" }) => countryOfRegion(key) !== "",
    "a region without an airport is a subdivision",
  );
  findings.unique(
    tables.regions
      .filter(({ key = "" }) => ownCountry(key) !== "")
      .flatMap(({ members = "" }) => members.split(" ")),
    "members of subdivisions",
  );
}

function checkTexts(tables: Tables, findings: Findings): void {
  findings.unique(column(tables.countries, "iso_code2"), "iso_code2");
  findings.unique(column(tables.countries, "iso_code3"), "iso_code3");
  findings.unique(column(tables.cities, "key"), "city keys");
  findings.unique(column(tables.regions, "key"), "region keys");
  findings.unique(column(tables.regions, "slug"), "region slugs");
  findings.every(tables.cities, (row) => isTidy(row["name"]), "city names are tidy");
  findings.every(tables.regions, (row) => isTidy(row["name"]), "region names are tidy");
  findings.every(
    tables.countries,
    (row) =>
      isTidy(row["name_eng"]) &&
      isTidy(row["name_native"]) &&
      /^\d{0,3}$/u.test(row["phone_prefix"] ?? "x"),
    "country names are tidy, prefixes are digits",
  );
  findings.every(
    tables.cities,
    ({ lat, lon }) => inRange(lat, 90) && inRange(lon, 180),
    "city positions are on Earth",
  );
  findings.every(tables.regions, hasFittingSlug, "slugs have their form and country");
  for (const rows of [tables.cities, tables.countries, tables.regions]) {
    const keys = rows.map((row) => Object.values(row)[0] ?? "");
    findings.equal(keys.toSorted().join(), keys.join(), "rows are sorted");
  }
}

const nameByKey = ({ key = "", name = "" }: Row): [string, string] => [key, name];

/** The names of the subdivisions and territories, each after its country. */
function namesInCountries(names: ReadonlyMap<string, string>): string[] {
  return [...names]
    .filter(([key]) => ownCountry(key) !== "")
    .map(([key, name]) => `${ownCountry(key)}: ${name.toLowerCase()}`);
}

function hasFittingSlug({ key = "", slug = "" }: Row): boolean {
  const country = countryOfRegion(key).toLowerCase();
  return SLUG.test(slug) && (country === "" || slug.endsWith(`-${country}`));
}

function checkLocales(tables: Tables, findings: Findings): void {
  const base = new Map(tables.regions.map((row) => [row["key"] ?? "", row["slug"] ?? ""]));
  for (const { locale, coverage, names } of tables.manifest.locales) {
    const rows = readSnapshotTable(`names/${locale}.json.gz`);
    const localized = new Map(
      rows.map((row) => [row["key"] ?? "", row["slug"] || base.get(row["key"] ?? "") || ""]),
    );
    findings.equal(Intl.getCanonicalLocales(locale)[0], locale, "locales are canonical");
    findings.equal(rows.length, names, `${locale} names`);
    findings.every(
      rows,
      (row) => base.has(row["key"] ?? "") && isTidy(row["name"]),
      `${locale} names are tidy`,
    );
    findings.every(
      rows,
      (row) => row["slug"] === "" || hasFittingSlug(row),
      `${locale} slugs have their form`,
    );
    findings.unique(
      [...base].map(([key, slug]) => localized.get(key) ?? slug),
      `${locale} slugs`,
    );
    findings.unique(
      namesInCountries(new Map([...tables.regions.map(nameByKey), ...rows.map(nameByKey)])),
      `${locale} names of a country's regions`,
    );
    findings.expect(coverage >= MIN_COVERAGE, `${locale} is shipped with coverage ${coverage}`);
  }
}

/** Reads the written snapshot back and says what does not hold; empty when all is well. */
export function checkSnapshot(): readonly string[] {
  const tables = readTables();
  const findings = new Findings();
  const checks = [
    checkFiles,
    checkCounts,
    checkReferences,
    checkCorrections,
    checkPlaces,
    checkTexts,
    checkLocales,
    checkAirportFacts,
    checkGoneAirports,
    checkRegionFacts,
    checkCountryFacts,
    checkLicenses,
    checkRegionJoins,
    checkNoEnglish,
    checkForms,
    checkTravelRegions,
    checkWholeWords,
  ];
  for (const check of checks) check(tables, findings);
  return findings.problems;
}

if (import.meta.main) {
  const problems = checkSnapshot();
  for (const problem of problems) console.error(`check failed: ${problem}`);
  console.log(problems.length === 0 ? "all checks passed" : `${problems.length} checks failed`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
