/** Builders of upstream rows, files and what is read from them. */
import { AIRPORT_COLUMNS } from "../../data/build/airport-columns.ts";
import { cityId, countryId } from "../../src/catalog/ids.ts";
import {
  buildCatalog,
  type Built,
  type CatalogParts,
  placeAirports,
} from "../../src/ingest/build.ts";
import { resolveCities } from "../../src/ingest/resolve-cities.ts";
import type { CityTables, KnownPlace } from "../../src/sources/city-tables.ts";
import type { SourceAirport } from "../../src/catalog/source-airport.ts";
import { spellingKey } from "../../src/sources/place-names.ts";
import type { ReferenceCountry, ReferenceRegion } from "../../src/sources/reference.ts";

/** Columns of airports.csv before `icao_code` was added. */
export const OLD_COLUMNS = AIRPORT_COLUMNS.filter((column) => column !== "icao_code");

export type Row = { readonly [column: string]: string };

/** The row of an airport that is kept as it is. */
export function anAirportRow(changes: Row = {}): Row {
  return {
    id: "4439",
    ident: "LSZH",
    type: "large_airport",
    name: "Zürich Airport",
    latitude_deg: "47.458057",
    longitude_deg: "8.548056",
    elevation_ft: "1417",
    continent: "EU",
    iso_country: "CH",
    iso_region: "CH-ZH",
    municipality: "Zürich",
    scheduled_service: "yes",
    icao_code: "LSZH",
    iata_code: "ZRH",
    gps_code: "LSZH",
    ...changes,
  };
}

/** Rows as CSV, with a header and a line break at the end. */
export function csvOf(rows: readonly Row[], columns: readonly string[] = AIRPORT_COLUMNS): string {
  const lines = rows.map((row) => columns.map((column) => quoted(row[column] ?? "")).join(","));
  return [columns.join(","), ...lines, ""].join("\n");
}

function quoted(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A stream that breaks after its first bytes, as a request's body does whose client goes away. */
export function cutOff(start = "{"): ReadableStream<Uint8Array> {
  let hasStarted = false;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (hasStarted) return controller.error(new Error("the client went away"));
      hasStarted = true;
      controller.enqueue(new TextEncoder().encode(start));
    },
  });
}

/** Text or bytes as a stream, in chunks of a length. */
export function streamOf(
  content: string | Uint8Array,
  chunkLength = 65_536,
): ReadableStream<Uint8Array> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  let offset = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (offset >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(offset, offset + chunkLength));
      offset += chunkLength;
    },
  });
}

/** An airport as it is read from `anAirportRow()`. */
export function aSourceAirport(changes: Partial<SourceAirport> = {}): SourceAirport {
  return {
    id: "4439",
    type: "large_airport",
    name: "Zürich Airport",
    lat: 47.4581,
    lon: 8.5481,
    country: "CH",
    region: "CH-ZH",
    municipality: "Zürich",
    iata: "ZRH",
    icao: "LSZH",
    scheduled: true,
    ...changes,
  };
}

function aReferenceCountry(): ReferenceCountry {
  return {
    isoCode2: "CH",
    isoCode3: "CHE",
    nameEng: "Switzerland",
    nameNative: "Schweiz",
    phonePrefix: "41",
  };
}

/** A place of the snapshot, as it is read from its row. */
export function aKnownPlace(
  changes: Partial<KnownPlace> & { key: string; name: string },
): KnownPlace {
  const { key, name, country = "CH", lat = 47.3667, lon = 8.55, ...rest } = changes;
  return {
    key,
    city: { id: cityId(key), name, countryId: countryId(country), lat, lon },
    country,
    lat,
    lon,
    region: "CH-ZH",
    population: 0,
    name: spellingKey(name),
    alternates: new Set(),
    ...rest,
  };
}

/** Tables that know Zürich's airport by its id, and Winterthur by its name only. */
export function someCityTables(): CityTables {
  const zurich = aKnownPlace({ key: "geonames:2657896", name: "Zürich", population: 400_000 });
  const winterthur = aKnownPlace({
    key: "geonames:2657970",
    name: "Winterthur",
    population: 90_000,
    lat: 47.5056,
    lon: 8.7241,
    alternates: new Set(["winterthur"]),
  });
  return {
    cities: new Map([zurich, winterthur].map(({ key, city }) => [key, city])),
    cityOfAirport: new Map([["4439", zurich.key]]),
    places: [zurich, winterthur],
    largeCities: new Set(),
  };
}

/** Europe and the canton of Zürich. */
export function someReferenceRegions(): ReferenceRegion[] {
  return [
    aReferenceRegion({ key: "m49:150", slug: "europe", name: "Europe", members: ["CH"] }),
    aReferenceRegion(),
  ];
}

/** A catalog of airports, with the tables of the builders above. */
export function buildFrom(
  airports: readonly SourceAirport[],
  changes: Partial<CatalogParts> = {},
): Built {
  return buildCatalog({
    placed: placeAirports(airports, resolveCities(airports, someCityTables())),
    countries: [aReferenceCountry()],
    regions: someReferenceRegions(),
    regionNames: new Map(),
    ...changes,
  });
}

export function aReferenceRegion(changes: Partial<ReferenceRegion> = {}): ReferenceRegion {
  return {
    key: "iso3166-2:CH-ZH",
    slug: "zurich-ch",
    name: "Zürich",
    members: ["CH-ZH"],
    ...changes,
  };
}
