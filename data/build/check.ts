import { gunzipSync } from "node:zlib";
import { checkCountryFacts, checkFacts } from "./check-facts.ts";
import { Findings } from "./findings.ts";
import {
  readSnapshotFile,
  readSnapshotTable,
  readTables,
  type Row,
  type Tables,
} from "./snapshot-reader.ts";
import { sha256, snapshotHash } from "./write.ts";

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/u;
const MIN_DEFAULT_COVERAGE = 0.85;

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
  const macro = tables.regions.filter((row) => row["key"]?.startsWith("m49:"));
  findings.equal(tables.airports.length, 9074, "airports");
  findings.equal(new Set(column(tables.airports, "iata_code")).size, 9074, "distinct IATA codes");
  findings.equal(tables.airportCities.length, 9074, "airports with a city");
  findings.equal(tables.countries.length, 250, "countries");
  findings.equal(macro.length, 28, "macro-regions");
  const near = (found: number, expected: number) => Math.abs(found - expected) <= expected * 0.01;
  findings.expect(
    near(tables.cities.length, 8559),
    `cities: about 8559, found ${tables.cities.length}`,
  );
  findings.expect(
    near(tables.regions.length, 2152),
    `regions: about 2152, found ${tables.regions.length}`,
  );
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
  const codes = new Set(column(tables.airports, "iso_region"));
  findings.every(
    tables.regions,
    ({ key = "", members = "" }) =>
      members !== "" &&
      members.split(" ").every((code) => (key.startsWith("m49:") ? countries : codes).has(code)),
    "a region's members are countries, or regions with an airport",
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

function hasFittingSlug({ key = "", slug = "" }: Row): boolean {
  const country = key.startsWith("iso3166-2:") ? key.slice(10, 12).toLowerCase() : "";
  return SLUG.test(slug) && (country === "" || slug.endsWith(`-${country}`));
}

function checkLocales(tables: Tables, findings: Findings): void {
  const base = new Map(tables.regions.map((row) => [row["key"] ?? "", row["slug"] ?? ""]));
  for (const { locale, coverage, names, default: isDefault } of tables.manifest.locales) {
    const rows = readSnapshotTable(`names/${locale}.csv.gz`);
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
    findings.expect(
      !isDefault || coverage >= MIN_DEFAULT_COVERAGE,
      `${locale} is a default with coverage ${coverage}`,
    );
  }
  findings.equal(
    tables.manifest.locales.filter((locale) => locale.default).length,
    29,
    "default locales",
  );
}

/** Reads the written snapshot back and says what does not hold; empty when all is well. */
export function checkSnapshot(): readonly string[] {
  const tables = readTables();
  const findings = new Findings();
  const checks = [
    checkFiles,
    checkCounts,
    checkReferences,
    checkTexts,
    checkLocales,
    checkFacts,
    checkCountryFacts,
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
