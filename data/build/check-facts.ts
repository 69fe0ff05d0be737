import type { Findings } from "./findings.ts";
import { readSnapshotTable, type Row, type Tables } from "./snapshot-reader.ts";

function localized(locale: string, key: string | undefined): Row | undefined {
  return readSnapshotTable(`names/${locale}.csv.gz`).find((row) => row["key"] === key);
}

/** Facts that a wrong join would break. */
export function checkFacts(tables: Tables, findings: Findings): void {
  const cityNames = new Map(tables.cities.map((row) => [row["key"], row["name"]]));
  const cityKeys = new Map(tables.airportCities.map((row) => [row["airport_id"], row["city_key"]]));
  const airports = new Map(tables.airports.map((row) => [row["iata_code"], row]));
  const cityOf = (iata: string) => cityNames.get(cityKeys.get(airports.get(iata)?.["id"]));
  for (const iata of ["MXP", "LIN", "BGY"])
    findings.equal(cityOf(iata), "Milan", `city of ${iata}`);
  for (const iata of ["EWR", "JFK", "LGA"])
    findings.equal(cityOf(iata), "New York", `city of ${iata}`);
  findings.equal(cityOf("NRT"), "Tokyo", "city of NRT");

  const regionOf = (iata: string) =>
    tables.regions.find(
      ({ key, members = "" }) =>
        key?.startsWith("iso3166-2:") &&
        members.split(" ").includes(airports.get(iata)?.["iso_region"] ?? ""),
    );
  for (const iata of ["PMI", "IBZ", "MAH"]) {
    const balearic = localized("de", regionOf(iata)?.["key"]);
    findings.equal(
      [balearic?.["name"], balearic?.["slug"]],
      "Balearen,balearen-es",
      `German region of ${iata}`,
    );
  }
  for (const iata of ["THR", "IKA"]) {
    findings.equal(regionOf(iata)?.["name"], "Tehran", `region of ${iata}`);
    findings.equal(
      localized("de", regionOf(iata)?.["key"])?.["name"],
      "Teheran",
      `German region of ${iata}`,
    );
  }
  const caribbean = tables.regions.find((row) => row["key"] === "m49:029");
  findings.equal(
    [caribbean?.["name"], localized("ru", "m49:029")?.["name"]],
    "Caribbean,Карибы",
    "Caribbean",
  );
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
