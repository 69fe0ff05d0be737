/** Builders of catalogs: small and whole, but for what a test names. */
import { airportId, cityId, compareIds, countryId, regionId } from "../../src/catalog/ids.ts";
import type { Airport, Catalog, City, Country, Region } from "../../src/catalog/model.ts";

export function aCountry(changes: Partial<Country> = {}): Country {
  const isoCode2 = changes.isoCode2 ?? "CH";
  return {
    id: countryId(isoCode2),
    isoCode2,
    isoCode3: "CHE",
    nameEng: "Switzerland",
    nameNative: "Schweiz",
    phonePrefix: "41",
    ...changes,
  };
}

export function aCity(changes: Partial<City> = {}): City {
  const name = changes.name ?? "Zürich";
  return {
    id: cityId(`ourairports:test:${name}`),
    name,
    countryId: countryId("CH"),
    lat: 47.3667,
    lon: 8.55,
    ...changes,
  };
}

/** An airport of `aCity()`. */
export function anAirport(changes: Partial<Airport> = {}): Airport {
  const iata = changes.iata ?? "ZRH";
  return {
    id: airportId(String(Number.parseInt(iata, 36))),
    iata,
    icao: "LSZH",
    name: `${iata} Airport`,
    lat: 47.4581,
    lon: 8.5481,
    cityId: aCity().id,
    ...changes,
  };
}

/** A region that holds `anAirport()`. */
export function aRegion(changes: Partial<Region> = {}): Region {
  const key = changes.key ?? "iso3166-2:CH-ZH";
  return {
    id: regionId(key),
    key,
    slug: "zurich-ch",
    name: "Zürich",
    airportIataCodes: ["ZRH"],
    ...changes,
  };
}

/** Two airports in two cities of two countries, in two regions. Breaks no rule of the contract. */
export function aCatalog(changes: Partial<Catalog> = {}): Catalog {
  return {
    airports: [anAirport({ iata: "LIN", icao: "", cityId: aMilan().id }), anAirport()],
    cities: byId([aCity(), aMilan()]),
    countries: byId([aCountry(), anItaly()]),
    regions: [
      aRegion({ key: "m49:150", slug: "europe", name: "Europe", airportIataCodes: ["LIN", "ZRH"] }),
      aRegion(),
    ],
    ...changes,
  };
}

export function aMilan(): City {
  return aCity({ name: "Milan", countryId: countryId("IT"), lat: 45.4643, lon: 9.1895 });
}

function anItaly(): Country {
  return aCountry({
    isoCode2: "IT",
    isoCode3: "ITA",
    nameEng: "Italy",
    nameNative: "Italia",
    phonePrefix: "39",
  });
}

/** The order that the contract gives to cities and countries. */
export function byId<T extends { readonly id: Uint8Array }>(entities: readonly T[]): T[] {
  return entities.toSorted((a, b) => compareIds(a.id, b.id));
}
