import { LISTS } from "../schemas/lists.ts";
import { idKey } from "./ids.ts";
import type { Catalog, LocalizedName, Region, RegionNames } from "./model.ts";

/** A broken rule of the contract with the entity that breaks it. */
export interface Violation {
  readonly rule: string;
  readonly entity: string;
}

export const IATA_CODE = /^[A-Z]{3}$/;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Finds up to `limit` violations of the contract. A catalog without violations may be published. */
export function checkCatalog(catalog: Catalog, limit = 50): Violation[] {
  const found: Violation[] = [];
  for (const violation of violations(catalog)) {
    found.push(violation);
    if (found.length === limit) break;
  }
  return found;
}

function* violations(catalog: Catalog): Generator<Violation> {
  for (const list of LISTS) {
    if (catalog[list].length === 0) yield { rule: "list_not_empty", entity: list };
    yield* checkIds(list, catalog[list]);
  }
  yield* checkCountries(catalog);
  yield* checkCities(catalog);
  yield* checkAirports(catalog);
  yield* checkRegions(catalog);
}

function* checkIds(list: string, entities: readonly { id: Uint8Array }[]): Generator<Violation> {
  const seen = new Set<string>();
  for (const { id } of entities) {
    const key = idKey(id);
    if (id.length !== 16) yield { rule: "id_16_bytes", entity: `${list} ${key}` };
    if (seen.has(key)) yield { rule: "id_unique", entity: `${list} ${key}` };
    seen.add(key);
  }
}

function* checkCountries({ countries }: Catalog): Generator<Violation> {
  for (const country of countries) {
    const entity = `country ${country.isoCode2}`;
    if (!/^[A-Z]{2}$/.test(country.isoCode2)) yield { rule: "iso_code2", entity };
    if (!/^[A-Z]{3}$/.test(country.isoCode3)) yield { rule: "iso_code3", entity };
    if (!/^[0-9]*$/.test(country.phonePrefix)) yield { rule: "phone_prefix", entity };
    if (!isName(country.nameEng) || !isName(country.nameNative)) yield { rule: "name", entity };
  }
  yield* checkOrder("country", countries, idOrder, ({ isoCode2 }) => isoCode2);
}

function* checkCities({ cities, countries }: Catalog): Generator<Violation> {
  const countryIds = new Set(countries.map((country) => idKey(country.id)));
  for (const city of cities) {
    const entity = `city ${city.name}`;
    if (!isName(city.name)) yield { rule: "name", entity };
    if (!isPosition(city)) yield { rule: "position", entity };
    if (!countryIds.has(idKey(city.countryId))) yield { rule: "country_id_resolves", entity };
  }
  yield* checkOrder("city", cities, idOrder, ({ name }) => name);
}

function* checkAirports({ airports, cities }: Catalog): Generator<Violation> {
  const cityIds = new Set(cities.map((city) => idKey(city.id)));
  const icaoOwners = new Map<string, string>();
  for (const airport of airports) {
    const entity = `airport ${airport.iata}`;
    if (!IATA_CODE.test(airport.iata)) yield { rule: "iata", entity };
    if (!/^([A-Z]{4})?$/.test(airport.icao)) yield { rule: "icao", entity };
    const owner = icaoOwners.get(airport.icao);
    if (owner !== undefined)
      yield { rule: "icao_unique", entity: `${entity} and ${owner}: ${airport.icao}` };
    if (airport.icao !== "") icaoOwners.set(airport.icao, entity);
    if (!isName(airport.name)) yield { rule: "name", entity };
    if (!isPosition(airport)) yield { rule: "position", entity };
    if (!cityIds.has(idKey(airport.cityId))) yield { rule: "city_id_resolves", entity };
  }
  yield* checkOrder("airport", airports, ({ iata }) => iata);
}

function* checkRegions({ airports, regions }: Catalog): Generator<Violation> {
  const iataCodes = new Set(airports.map((airport) => airport.iata));
  for (const region of regions) {
    const entity = `region ${region.slug}`;
    if (!isName(region.name)) yield { rule: "name", entity };
    if (!SLUG.test(region.slug)) yield { rule: "slug", entity };
    if (region.airportIataCodes.length === 0) yield { rule: "region_has_airports", entity };
    if (!region.airportIataCodes.every((code) => iataCodes.has(code)))
      yield { rule: "airport_iata_codes_resolve", entity };
    yield* checkOrder(entity, region.airportIataCodes, (code) => code);
  }
  yield* checkOrder("region", regions, ({ slug }) => slug);
}

/** Finds violations in the names of one locale: empty or untrimmed names, bad or shared slugs. */
export function checkNames(regions: readonly Region[], names: RegionNames): Violation[] {
  const found: Violation[] = [];
  const owners = new Map<string, string>();
  for (const region of regions) {
    const { name, slug } = localizedName(region, names);
    const entity = `region ${region.slug}`;
    if (!isName(name)) found.push({ rule: "name_localized", entity });
    if (!SLUG.test(slug)) found.push({ rule: "slug_localized", entity });
    const owner = owners.get(slug);
    if (owner !== undefined)
      found.push({ rule: "slug_localized_unique", entity: `${entity} and ${owner}: ${slug}` });
    owners.set(slug, entity);
  }
  return found;
}

/** Name and slug of a region in a locale, or the English name and base slug. */
export function localizedName(region: Region, names: RegionNames): LocalizedName {
  return names.get(region.key) ?? region;
}

/** Compares two strings by code unit, independently of the machine. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function* checkOrder<T>(
  what: string,
  entities: readonly T[],
  orderOf: (entity: T) => string,
  nameOf = orderOf,
): Generator<Violation> {
  let previous: string | undefined;
  for (const entity of entities) {
    const order = orderOf(entity);
    if (previous !== undefined && order <= previous)
      yield { rule: "ascending_and_unique", entity: `${what}: ${nameOf(entity)}` };
    previous = order;
  }
}

function idOrder({ id }: { readonly id: Uint8Array }): string {
  return idKey(id);
}

function isName(name: string): boolean {
  return name !== "" && name === name.trim() && name === name.normalize("NFC");
}

/** Whether degrees are a place on earth. (0, 0) usually stands for a missing position. */
export function isPosition({ lat, lon }: { lat: number; lon: number }): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && !(lat === 0 && lon === 0);
}
