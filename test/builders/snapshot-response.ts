import type { LocationsResponse } from "../../gen/locations/v1/locations_pb.ts";
import { readTable } from "../../web/build/snapshot-table.ts";
import { airportId, cityId, countryId, regionId } from "../../src/catalog/ids.ts";
import type { Catalog, RegionNames } from "../../src/catalog/model.ts";
import { aCatalog } from "./catalog.ts";
import { aLocationsResponse } from "./locations-response.ts";

let catalog: Catalog | undefined;

/** All places of the snapshot as a client gets them; without a locale in English. */
export function snapshotResponse(locale?: string): LocationsResponse {
  return aLocationsResponse(
    snapshotCatalog(),
    locale === undefined ? new Map() : snapshotNames(locale),
  );
}

export function snapshotCatalog(): Catalog {
  catalog ??= readCatalog();
  return catalog;
}

/** The names of its regions in a locale. */
export function snapshotNames(locale: string): RegionNames {
  const baseSlugs = new Map(snapshotCatalog().regions.map(({ key, slug }) => [key, slug]));
  return new Map(
    readTable(`snapshot/names/${locale}.json.gz`).map(({ key = "", name = "", slug }) => [
      key,
      { name, slug: slug || (baseSlugs.get(key) ?? "") },
    ]),
  );
}

function readCatalog(): Catalog {
  const airports = readTable("snapshot/airports.csv.gz");
  const cityOf = new Map(
    readTable("snapshot/airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
  );
  const rows = [...airports.keys()];
  const byCode = ["iso_country", "iso_region", "id"].map((column) =>
    Map.groupBy(rows, (row) => airports[row]?.[column] ?? ""),
  );
  const membersOf = (members: string) => {
    const codes = members.split(" ");
    const found = new Set(byCode.flatMap((of) => codes.flatMap((code) => of.get(code) ?? [])));
    return [...found].toSorted((a, b) => a - b).map((row) => airports[row]?.["iata_code"] ?? "");
  };
  return aCatalog({
    airports: airports.map((row) => ({
      id: airportId(row["id"] ?? ""),
      iata: row["iata_code"] ?? "",
      icao: row["ident"] ?? "",
      name: row["name"] ?? "",
      lat: Number(row["latitude_deg"]),
      lon: Number(row["longitude_deg"]),
      cityId: cityId(cityOf.get(row["id"]) ?? ""),
    })),
    cities: readTable("snapshot/cities.csv.gz").map((row) => ({
      id: cityId(row["key"] ?? ""),
      name: row["name"] ?? "",
      countryId: countryId(row["country"] ?? ""),
      lat: Number(row["lat"]),
      lon: Number(row["lon"]),
    })),
    countries: readTable("snapshot/countries.csv.gz").map((row) => ({
      id: countryId(row["iso_code2"] ?? ""),
      isoCode2: row["iso_code2"] ?? "",
      isoCode3: row["iso_code3"] ?? "",
      nameEng: row["name_eng"] ?? "",
      nameNative: row["name_native"] ?? "",
      phonePrefix: row["phone_prefix"] ?? "",
    })),
    regions: readTable("snapshot/catalog-regions.csv.gz").map((row) => ({
      id: regionId(row["key"] ?? ""),
      key: row["key"] ?? "",
      slug: row["slug"] ?? "",
      name: row["name"] ?? "",
      airportIataCodes: membersOf(row["members"] ?? ""),
    })),
  });
}
