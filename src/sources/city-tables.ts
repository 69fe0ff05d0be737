import { cityId, countryId } from "../catalog/ids.ts";
import type { City } from "../catalog/model.ts";
import { Nearby, roundDegrees, type Spot } from "../catalog/positions.ts";
import type { SourceAirport } from "../catalog/source-airport.ts";
import type { CsvRow } from "./csv.ts";
import { spellingKey } from "./place-names.ts";
import { type OpenSnapshotFile, readTable } from "./reference.ts";

/** A place that may be the city of an airport: a city of the snapshot, or one of its gazetteer. */
export interface KnownPlace extends Spot {
  readonly key: string;
  readonly city: City;
  /** Upstream's code of the subdivision; empty where the snapshot does not know it. */
  readonly region: string;
  /** Inhabitants to one digit; 0 where the snapshot does not know them. */
  readonly population: number;
  /** The name, as a `spellingKey`. */
  readonly name: string;
  /** Municipalities that upstream has for it, likewise. */
  readonly alternates: Set<string>;
}

/** Cities of airports in the snapshot, for any upstream. */
export interface CityTables {
  /** By city key. */
  readonly cities: ReadonlyMap<string, City>;
  /** City key by numeric OurAirports id. */
  readonly cityOfAirport: ReadonlyMap<string, string>;
  /** Places around the airports that are not in the previous table. */
  readonly places: readonly KnownPlace[];
  /** Country and `spellingKey` of each large city, such as `CH zurich`. */
  readonly largeCities: ReadonlySet<string>;
}

/** Greatest distance of an airport from its city. */
export const CITY_MAX_KM = 75;

/** Minimum number of inhabitants of a city that is known beyond its subdivision. */
export const LARGE_CITY = 100_000;

/** Reads the cities that these airports need. */
export async function readCityTables(
  open: OpenSnapshotFile,
  airports: readonly SourceAirport[],
): Promise<CityTables> {
  const cityOfAirport = new Map<string, string>();
  await readTable(open, "airport-cities.csv.gz", (row) =>
    cityOfAirport.set(row.get("airport_id"), row.get("city_key")),
  );
  const unknown = airports.filter(({ id }) => !cityOfAirport.has(id));
  const cities = new Map<string, City>();
  const reader = new PlaceReader(unknown);
  await readTable(open, "cities.csv.gz", (row) => {
    const city = reader.city(row);
    cities.set(row.get("key"), city);
    reader.place(row, city);
  });
  if (unknown.length > 0) {
    await readTable(open, "gazetteer.csv.gz", (row) => reader.place(row, reader.city(row)));
    await readTable(open, "places.csv.gz", (row) => reader.alternate(row));
  }
  return {
    cities,
    cityOfAirport,
    places: [...reader.places.values()],
    largeCities: reader.largeCities,
  };
}

/** Reads places, of which it holds only those around some airports. */
class PlaceReader {
  readonly places = new Map<string, KnownPlace>();
  readonly largeCities = new Set<string>();
  readonly #airports: Nearby<SourceAirport>;
  readonly #countryIds = new Map<string, Uint8Array>();

  constructor(airports: readonly SourceAirport[]) {
    this.#airports = new Nearby(airports);
  }

  /** Builds a city. All cities of a country share one id of it. */
  city(row: CsvRow): City {
    const country = row.get("country");
    const itsCountryId = this.#countryIds.get(country) ?? countryId(country);
    this.#countryIds.set(country, itsCountryId);
    return {
      id: cityId(row.get("key")),
      name: row.get("name"),
      countryId: itsCountryId,
      lat: roundDegrees(Number(row.get("lat"))),
      lon: roundDegrees(Number(row.get("lon"))),
    };
  }

  place(row: CsvRow, city: City): void {
    const [key, country, region] = [row.get("key"), row.get("country"), row.get("region")];
    const { lat, lon } = city;
    const population = Number(row.get("population"));
    if (population >= LARGE_CITY) this.largeCities.add(`${country} ${spellingKey(city.name)}`);
    const [near] = this.#airports.within({ country, lat, lon }, CITY_MAX_KM);
    if (near === undefined) return;
    const name = spellingKey(city.name);
    const alternates = new Set<string>();
    this.places.set(key, { key, city, country, region, population, lat, lon, name, alternates });
  }

  alternate(row: CsvRow): void {
    const place = this.places.get(row.get("city_key"));
    place?.alternates.add(spellingKey(row.get("municipality")));
  }
}
