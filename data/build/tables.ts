import type { Correction } from "./airport-corrections.ts";
import { AIRPORT_COLUMNS } from "./airport-columns.ts";
import type { AirportRow } from "./airports.ts";
import { distinctCities } from "./cities.ts";
import type { Assignment, City } from "./city.ts";
import type { Country } from "./countries.ts";
import type { Table } from "./csv.ts";
import { knownMunicipalities } from "./known-municipalities.ts";
import type { LocaleNames } from "./names.ts";
import type { CatalogRegion } from "./catalog-region.ts";
import type { RegionRow } from "./regions.ts";
import { compareCodeUnits } from "./text.ts";

function airportCells(row: AirportRow): Table["rows"][number] {
  return [
    row.id,
    row.ident,
    row.type,
    row.name,
    String(row.lat),
    String(row.lon),
    row.elevationFt,
    row.continent,
    row.country,
    row.region,
    row.municipality,
    row.scheduledService,
    row.icao,
    row.iata,
    row.gps,
    row.local,
    "",
    "",
    "",
  ];
}

/** OurAirports' live layout; links and keywords stay empty to keep the file small. */
export function airportsTable(airports: readonly AirportRow[]): Table {
  return { columns: AIRPORT_COLUMNS, rows: airports.map(airportCells) };
}

/** The airports that curated rows change, as OurAirports had them; those that it lacked by id alone. */
export function correctionsTable(corrections: readonly Correction[]): Table {
  return {
    columns: AIRPORT_COLUMNS,
    rows: corrections.map(({ id, before }) =>
      before === undefined
        ? [id, ...AIRPORT_COLUMNS.slice(1).map(() => null)]
        : airportCells(before),
    ),
  };
}

/** OurAirports' live layout, by code; links and keywords stay empty. */
export function regionsTable(regions: readonly RegionRow[]): Table {
  return {
    columns: [
      "id",
      "code",
      "local_code",
      "name",
      "continent",
      "iso_country",
      "wikipedia_link",
      "keywords",
    ],
    rows: regions.map((row) => [
      row.id,
      row.code,
      row.local_code,
      row.name,
      row.continent,
      row.iso_country,
      "",
      "",
    ]),
  };
}

/** Countries by alpha-2 code. */
export function countriesTable(countries: readonly Country[]): Table {
  return {
    columns: ["iso_code2", "iso_code3", "name_eng", "name_native", "phone_prefix"],
    rows: countries.map((row) => [
      row.iso2,
      row.iso3,
      row.nameEnglish,
      row.nameNative,
      row.phonePrefix,
    ]),
  };
}

/** Cities that have an airport, by key. */
export function citiesTable(assignments: readonly Assignment[]): Table {
  return {
    columns: ["key", "name", "country", "region", "population", "lat", "lon"],
    rows: distinctCities(assignments).map((city) => [
      city.key,
      city.name,
      city.country,
      city.region,
      city.population || null,
      String(city.lat),
      String(city.lon),
    ]),
  };
}

/** Places without an airport, by country and GeoNames id, to about a kilometre. */
export function gazetteerTable(cities: readonly City[]): Table {
  return {
    columns: ["key", "name", "country", "region", "population", "lat", "lon"],
    rows: cities.map((city) => [
      city.key,
      city.name,
      city.country,
      city.region,
      city.population,
      city.lat.toFixed(2),
      city.lon.toFixed(2),
    ]),
  };
}

/** The city of each airport and the rule that found it, by numeric airport id. */
export function airportCitiesTable(assignments: readonly Assignment[]): Table {
  return {
    columns: ["airport_id", "city_key", "origin"],
    rows: assignments.map(({ airport, city, origin }) => [airport.id, city.key, origin]),
  };
}

/** The municipalities by which a new upstream airport finds its city. */
export function placesTable(assignments: readonly Assignment[]): Table {
  return {
    columns: ["iso_region", "municipality", "city_key"],
    rows: knownMunicipalities(assignments).map((row) => [
      row.region,
      row.municipality,
      row.cityKey,
    ]),
  };
}

/** Regions of the catalog, by key. Airports among their members have their numbers: codes change. */
export function catalogRegionsTable(
  regions: readonly CatalogRegion[],
  airports: readonly AirportRow[],
): Table {
  const ids = new Map(airports.map(({ iata, id }) => [iata, String(id)]));
  return {
    columns: ["key", "slug", "name", "members"],
    rows: regions
      .toSorted((a, b) => compareCodeUnits(a.key, b.key))
      .map((row) => [
        row.key,
        row.slug,
        row.name,
        row.members.map((member) => ids.get(member) ?? member).join(" "),
      ]),
  };
}

/** Localized names and slugs of one locale, by region key. */
export function namesTable(locale: LocaleNames): Table {
  return {
    columns: ["key", "name", "slug"],
    rows: locale.names
      .toSorted((a, b) => compareCodeUnits(a.key, b.key))
      .map((row) => [row.key, row.name.normalize("NFC"), row.slug]),
  };
}
