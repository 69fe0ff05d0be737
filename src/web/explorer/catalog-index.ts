import type {
  Airport,
  City,
  Country,
  LocationsResponse,
  Region,
  Uuid,
} from "../../../gen/locations/v1/locations_pb.ts";

/** An airport with its city, country and regions. */
export interface AirportPlace {
  readonly kind: "airport";
  readonly airport: Airport;
  readonly city: CityPlace;
  /** Smallest first. */
  readonly regions: readonly RegionPlace[];
}

export interface CityPlace {
  readonly kind: "city";
  /** UUID in its usual text form. */
  readonly id: string;
  readonly city: City;
  readonly country: CountryPlace;
  readonly airports: readonly AirportPlace[];
}

export interface CountryPlace {
  readonly kind: "country";
  readonly country: Country;
  /** Sorted by name. */
  readonly cities: readonly CityPlace[];
  readonly airports: readonly AirportPlace[];
  /** Regions of its airports, smallest first. */
  readonly regions: readonly RegionPlace[];
}

export interface RegionPlace {
  readonly kind: "region";
  readonly region: Region;
  readonly airports: readonly AirportPlace[];
}

export type Place = AirportPlace | CityPlace | CountryPlace | RegionPlace;

/** The joined catalog of one answer. */
export interface CatalogIndex {
  readonly airports: readonly AirportPlace[];
  readonly cities: readonly CityPlace[];
  readonly countries: readonly CountryPlace[];
  readonly regions: readonly RegionPlace[];
  readonly airportByIata: ReadonlyMap<string, AirportPlace>;
  readonly cityById: ReadonlyMap<string, CityPlace>;
  readonly countryByCode: ReadonlyMap<string, CountryPlace>;
  readonly regionBySlug: ReadonlyMap<string, RegionPlace>;
}

interface OpenAirport extends AirportPlace {
  readonly city: OpenCity;
  readonly regions: RegionPlace[];
}

interface OpenCity extends CityPlace {
  readonly country: OpenCountry;
  readonly airports: AirportPlace[];
}

interface OpenCountry extends CountryPlace {
  readonly cities: CityPlace[];
  readonly airports: AirportPlace[];
  readonly regions: RegionPlace[];
}

/**
 * Joins the four lists by their references.
 *
 * @throws Error if a reference does not resolve, which the contract rules out.
 */
export function indexCatalog(answer: LocationsResponse): CatalogIndex {
  const countries = new Map(
    answer.countries.map((country) => [uuidText(country.id), open(country)]),
  );
  const cities = joinCities(answer.cities, countries);
  const airports = joinAirports(answer.airports, cities);
  const regions = joinRegions(answer.regions, airports);
  for (const country of countries.values()) country.cities.sort(byCityName);
  return {
    airports: [...airports.values()],
    cities: [...cities.values()],
    countries: [...countries.values()],
    regions,
    airportByIata: airports,
    cityById: cities,
    countryByCode: new Map([...countries.values()].map((place) => [place.country.isoCode2, place])),
    regionBySlug: new Map(regions.map((place) => [place.region.slug, place])),
  };
}

function open(country: Country): OpenCountry {
  return { kind: "country", country, cities: [], airports: [], regions: [] };
}

function joinCities(
  cities: readonly City[],
  countries: ReadonlyMap<string, OpenCountry>,
): Map<string, OpenCity> {
  const places = new Map<string, OpenCity>();
  for (const city of cities) {
    const country = resolve(countries, uuidText(city.countryId), `country of ${city.name}`);
    const place: OpenCity = { kind: "city", id: uuidText(city.id), city, country, airports: [] };
    places.set(place.id, place);
    country.cities.push(place);
  }
  return places;
}

function joinAirports(
  airports: readonly Airport[],
  cities: ReadonlyMap<string, OpenCity>,
): Map<string, OpenAirport> {
  const places = new Map<string, OpenAirport>();
  for (const airport of airports) {
    const city = resolve(cities, uuidText(airport.cityId), `city of ${airport.iata}`);
    const place: OpenAirport = { kind: "airport", airport, city, regions: [] };
    places.set(airport.iata, place);
    city.airports.push(place);
    city.country.airports.push(place);
  }
  return places;
}

function joinRegions(
  regions: readonly Region[],
  airports: ReadonlyMap<string, OpenAirport>,
): RegionPlace[] {
  const places = regions.map((region): RegionPlace => {
    const codes = region.airportIataCodes;
    return {
      kind: "region",
      region,
      airports: codes.map((code) => resolve(airports, code, `airport of ${region.slug}`)),
    };
  });
  for (const place of places.toSorted((a, b) => a.airports.length - b.airports.length)) {
    for (const code of place.region.airportIataCodes) {
      const airport = resolve(airports, code, `airport of ${place.region.slug}`);
      airport.regions.push(place);
      const { regions: ofCountry } = airport.city.country;
      if (ofCountry.at(-1) !== place) ofCountry.push(place);
    }
  }
  return places;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats a UUID; returns "" for none. */
export function uuidText(id: Uuid | undefined): string {
  if (id === undefined) return "";
  const hex = Array.from(id.value, (byte) => HEX[byte]).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function resolve<T>(places: ReadonlyMap<string, T>, key: string, what: string): T {
  const place = places.get(key);
  if (place === undefined) throw new Error(`the answer names no ${what} (${key})`);
  return place;
}

function byCityName(a: CityPlace, b: CityPlace): number {
  return a.city.name.localeCompare(b.city.name, "en");
}
