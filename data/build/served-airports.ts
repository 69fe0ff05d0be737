import { airportFinder, listMembers } from "./region-members.ts";
import type { Row, Tables } from "./snapshot-reader.ts";

/** An airport as a reader of the catalog meets it. */
export interface ServedAirport {
  readonly name: string;
  /** Its `icao_code`, else its `gps_code`. */
  readonly icao: string;
  readonly country: string;
  readonly city: Row | undefined;
  /** The regions that have it: as a member themselves, by its subdivision or by its country. */
  readonly regions: readonly Row[];
}

/** Finds the airports of the snapshot by IATA code, each with its city and regions. */
export function servedAirports(tables: Tables): (iata: string) => ServedAirport | undefined {
  const cities = new Map(tables.cities.map((row) => [row["key"], row]));
  const cityKeys = new Map(tables.airportCities.map((row) => [row["airport_id"], row["city_key"]]));
  const airports = new Map(tables.airports.map((row) => [row["iata_code"], row]));
  const airportsOf = airportsOfRegion(tables);
  const pairs = tables.regions.flatMap((region) =>
    airportsOf(region).map((airport) => ({ airport, region })),
  );
  const regions = Map.groupBy(pairs, ({ airport }) => airport);
  return (iata) => {
    const airport = airports.get(iata);
    if (airport === undefined) return undefined;
    const { name = "", iso_country: country = "", icao_code: icao, gps_code: gps = "" } = airport;
    return {
      name,
      icao: icao || gps,
      country,
      city: cities.get(cityKeys.get(airport["id"])),
      regions: (regions.get(airport) ?? []).map(({ region }) => region),
    };
  };
}

/** The members of a written region. */
export function membersOf(region: Row | undefined): readonly string[] {
  return listMembers(region?.["members"] ?? "");
}

/** Finds the airports of a written region by its members. */
export function airportsOfRegion({ regions, airports }: Tables): (region: Row) => Row[] {
  const find = airportFinder(
    regions.map((row) => ({ key: row["key"] ?? "", members: membersOf(row) })),
    airports.map((row) => ({
      row,
      iata: row["iata_code"] ?? "",
      country: row["iso_country"] ?? "",
      region: row["iso_region"] ?? "",
    })),
  );
  return (region) => [...find(membersOf(region))].map(({ row }) => row);
}
