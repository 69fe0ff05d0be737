/**
 * Compares two versions of the catalog in one locale, or but for their localized fields.
 *
 * Pure: no clock, no I/O. Time is linear in the entities. It decodes only entities whose bytes
 * differ, because two decoded versions would take much of an isolate's memory.
 */
import { type DescMessage, fromBinary, isMessage } from "@bufbuild/protobuf";
import {
  AirportSchema,
  CitySchema,
  CountrySchema,
  RegionSchema,
  UuidSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import type { AirportFields, CityFields, CountryFields, RegionFields } from "../schemas/diff.ts";
import {
  compareFields,
  diffList,
  type EntityChange,
  type ListChanges,
  type ListDiff,
  type ListReader,
  type VersionPair,
} from "./list-diff.ts";
import { idText } from "./ids.ts";
import type { Airport, City, Counts, Country } from "./model.ts";

/** `airport_iata_codes` is present if the region gained or lost airports. */
interface RegionChange extends EntityChange<Omit<RegionFields, "airport_iata_codes">> {
  readonly airport_iata_codes?: CodeChanges;
}

export interface CodeChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export type ChangeCounts = { readonly [L in keyof Counts]: ListChanges };

/** The name of a field in the contract: `city_id` of `cityId`. */
type ContractName<F> = F extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ContractName<Rest>}`
  : "";

/** `F`, if it has every field of the entity `E`. */
type AllOf<E, F extends { readonly [N in keyof E as ContractName<N>]: unknown }> = F;

export interface CatalogDiff {
  readonly airports: ListDiff<AllOf<Airport, AirportFields>>;
  readonly cities: ListDiff<AllOf<City, CityFields>>;
  readonly countries: ListDiff<AllOf<Country, CountryFields>>;
  readonly regions: ListDiff<RegionFields, RegionChange>;
}

/**
 * Compares two versions entity by entity, matched by id. Ignores order, which the contract fixes.
 * Ids must be unique within a list. Throws if bytes are not a LocationsResponse or an entity has no
 * id.
 */
export function diffCatalogs(pair: VersionPair): CatalogDiff {
  return { ...diffSharedLists(pair), regions: diffRegions(pair) };
}

/** Compares the lists that all locales share, as `diffCatalogs` does. */
export function diffSharedLists(pair: VersionPair): Omit<CatalogDiff, "regions"> {
  return {
    airports: diffList(pair, AIRPORTS),
    cities: diffList(pair, CITIES),
    countries: diffList(pair, COUNTRIES),
  };
}

export function diffRegions(pair: VersionPair): CatalogDiff["regions"] {
  return diffList(pair, {
    field: "regions",
    read: readRegion,
    compare: (before, after) => compareRegions(before, after, pair),
  });
}

export function countChanges({ airports, cities, countries, regions }: CatalogDiff): ChangeCounts {
  return {
    airports: airports.counts,
    cities: cities.counts,
    countries: countries.counts,
    regions: regions.counts,
  };
}

/** Reads a list whose entities are compared field by field. */
function plainReader<F extends { readonly id: string }>(
  field: keyof Counts,
  schema: DescMessage,
  labelOf: (fields: F) => string,
): ListReader<F, EntityChange<F>> {
  const read = (entity: Uint8Array) => readFields(schema, entity) as F; // of the schema
  return {
    field,
    read,
    compare(before, after) {
      const fields = read(after);
      return compareFields(read(before), fields, labelOf(fields));
    },
  };
}

const AIRPORTS = plainReader<AirportFields>("airports", AirportSchema, ({ iata }) => iata);
const CITIES = plainReader<CityFields>("cities", CitySchema, ({ name }) => name);
const COUNTRIES = plainReader<CountryFields>("countries", CountrySchema, (it) => it.iso_code2);

const readRegion = (entity: Uint8Array) => readFields(RegionSchema, entity) as RegionFields; // of the schema

/** Decodes an entity to JSON with the contract's field names and ids as UUID text. */
function readFields(schema: DescMessage, entity: Uint8Array): object {
  const message: { readonly [field: string]: unknown } = { ...fromBinary(schema, entity) };
  const fields = schema.fields.map(({ name, localName }) => {
    const value = message[localName];
    if (value === undefined) throw new Error("a reference without an id");
    return [name, isMessage(value, UuidSchema) ? idText(value.value) : value];
  });
  return Object.fromEntries(fields);
}

function compareRegions(
  before: Uint8Array,
  after: Uint8Array,
  { isOfTwoLocales = false }: Pick<VersionPair, "isOfTwoLocales">,
): RegionChange | undefined {
  const { airport_iata_codes: had, ...was } = readRegion(before);
  const { airport_iata_codes: has, ...is } = readRegion(after);
  const codes = { added: missingFrom(had, has), removed: missingFrom(has, had) };
  const { name_localized, slug_localized } = isOfTwoLocales ? is : was;
  const change = compareFields({ ...was, name_localized, slug_localized }, is, is.slug);
  if (codes.added.length === 0 && codes.removed.length === 0) return change;
  return {
    ...(change ?? { id: is.id, label: is.slug, before: {}, after: {} }),
    airport_iata_codes: codes,
  };
}

function missingFrom(others: readonly string[], codes: readonly string[]): string[] {
  const known = new Set(others);
  return codes.filter((code) => !known.has(code));
}
