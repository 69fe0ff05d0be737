import { foldText } from "../../src/catalog/fold.ts";
import { readDecisions } from "./airport-witness.ts";
import { alternatives, checkDue, readFacts } from "./facts.ts";
import type { Findings } from "./findings.ts";
import { servedAirports } from "./served-airports.ts";
import { readSnapshotTable, type Row, type Tables } from "./snapshot-reader.ts";

const MIN_AIRPORTS = 500;
const MIN_REGIONS_PER_LOCALE = 8;
const MIN_LOCALES = 12;

/** The words of a name that are long enough to tell airports apart: `O'Hare` gives `hare`. */
function words(name: string): ReadonlySet<string> {
  return new Set(
    foldText(name)
      .split("-")
      .filter((word) => word.length > 2),
  );
}

/**
 * `facts/airports.csv`: each airport is served with its ICAO code, in its country and city, its name
 * shares a word, and the day from which somebody must look at it again is still to come.
 */
export function checkAirportFacts(tables: Tables, findings: Findings): void {
  const facts = readFacts<"iata" | "icao" | "country" | "city" | "name" | "again">("airports", [
    "iata",
  ]);
  checkDue("facts/airports.csv", facts, findings);
  findings.expect(facts.length >= MIN_AIRPORTS, `facts/airports.csv: only ${facts.length} rows`);
  const find = servedAirports(tables);
  for (const { iata, icao, country, city, name } of facts) {
    const row = `facts/airports.csv ${iata}`;
    const airport = find(iata);
    findings.expect(airport !== undefined, `${row}: not served`);
    if (airport === undefined) continue;
    findings.oneOf(airport.icao, alternatives(icao), `${row} icao`);
    findings.oneOf(airport.country, alternatives(country), `${row} country`);
    findings.oneOf(airport.city?.["country"], alternatives(country), `${row} country of its city`);
    findings.oneOf(airport.city?.["name"], alternatives(city), `${row} city`);
    findings.expect(
      !words(airport.name).isDisjointFrom(words(name)),
      `${row} name: expected a word of ${name}, found ${airport.name}`,
    );
  }
}

/** `curated/witness.csv`: the days from which somebody must look at a decision again are still to come. */
export function checkDecisions(_: Tables, findings: Findings): void {
  const dated = readDecisions().filter(({ again }) => again !== "");
  checkDue("curated/witness.csv", dated, findings);
}

/** `facts/gone.csv`: codes of airports that closed or were recoded. */
export function checkGoneAirports(tables: Tables, findings: Findings): void {
  const find = servedAirports(tables);
  for (const { iata, since, why } of readFacts<"iata" | "since" | "why">("gone", ["iata"])) {
    const airport = find(iata);
    findings.expect(
      airport === undefined,
      `facts/gone.csv ${iata}: served as ${airport?.name}; gone since ${since}: ${why}`,
    );
  }
}

/** `facts/regions.csv`: one of the regions of each airport has this name in this locale. */
export function checkRegionFacts(tables: Tables, findings: Findings): void {
  const facts = readFacts<"locale" | "iata" | "region">("regions", ["locale", "iata", "region"]);
  const byLocale = Map.groupBy(facts, (fact) => fact.locale);
  findings.expect(byLocale.size >= MIN_LOCALES, `facts/regions.csv: ${byLocale.size} locales`);
  const find = servedAirports(tables);
  for (const [locale, rows] of byLocale) {
    findings.expect(
      rows.length >= MIN_REGIONS_PER_LOCALE,
      `facts/regions.csv ${locale}: only ${rows.length} rows`,
    );
    const names = localizedNames(locale);
    for (const { iata, region } of rows) {
      const found = find(iata)?.regions.map((row) => names(row)) ?? [];
      findings.expect(
        alternatives(region).some((name) => found.includes(name)),
        `facts/regions.csv ${locale} ${iata}: expected ${region}, found ${found.join(", ")}`,
      );
    }
  }
}

/** The name of a region in a locale: the English one where the locale has none. */
function localizedNames(locale: string): (region: Row) => string {
  const names = new Map(
    readSnapshotTable(`names/${locale}.json.gz`).map((row) => [row["key"], row["name"]]),
  );
  return (region) => names.get(region["key"]) ?? region["name"] ?? "";
}

/** Facts about countries that a careless reader of the sources would get wrong. */
export function checkCountryFacts(tables: Tables, findings: Findings): void {
  const country = (iso2: string) => tables.countries.find((row) => row["iso_code2"] === iso2);
  findings.equal(country("NA")?.["name_eng"], "Namibia", "NA");
  findings.expect(
    tables.airports.some((row) => row["iso_country"] === "NA"),
    "Namibia has airports",
  );
  findings.equal(
    [country("DE")?.["name_native"], country("DE")?.["phone_prefix"]],
    "Deutschland,49",
    "DE",
  );
  findings.equal(country("JP")?.["name_native"], "日本", "JP");
  findings.equal(country("XK")?.["iso_code3"], "XKX", "XK");
  for (const iso2 of ["US", "CA", "DO"])
    findings.equal(country(iso2)?.["phone_prefix"], "1", `prefix of ${iso2}`);
}
