/**
 * Compares two versions of the catalog in one locale, or but for their localized fields.
 *
 * Pure: no clock, no I/O. Time is linear in the entities. It decodes only entities whose bytes
 * differ, because two decoded versions would take much of an isolate's memory.
 */
import { fromBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import {
  type Airport,
  AirportSchema,
  type City,
  CitySchema,
  type Country,
  CountrySchema,
  type Region,
  RegionSchema,
  type Uuid,
} from "../../gen/locations/v1/locations_pb.ts";
import type { AirportFields, CityFields, CountryFields, RegionFields } from "./diff-schema.ts";
import {
  compareFields,
  diffList,
  type EntityChange,
  type ListChanges,
  type ListDiff,
  type ListReader,
  type VersionPair,
} from "./list-diff.ts";
import type { Counts } from "./manifest.ts";
import { idText } from "./ids.ts";

/** `airport_iata_codes` is present if the region gained or lost airports. */
interface RegionChange extends EntityChange<Omit<RegionFields, "airport_iata_codes">> {
  readonly airport_iata_codes?: CodeChanges;
}

export interface CodeChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export type ChangeCounts = { readonly [L in keyof Counts]: ListChanges };

export interface CatalogDiff {
  readonly airports: ListDiff<AirportFields>;
  readonly cities: ListDiff<CityFields>;
  readonly countries: ListDiff<CountryFields>;
  readonly regions: ListDiff<RegionFields, RegionChange>;
}

/**
 * Compares two versions entity by entity, matched by id. Ignores order, which the contract fixes.
 * Ids must be unique within a list. Throws if bytes are not a LocationsResponse or an entity has no
 * id.
 */
export function diffCatalogs(pair: VersionPair): CatalogDiff {
  return { ...diffCommon(pair), regions: diffRegions(pair) };
}

/** Compares the lists that all locales share, as `diffCatalogs` does. */
export function diffCommon(pair: VersionPair): Omit<CatalogDiff, "regions"> {
  return {
    airports: diffList(pair, AIRPORTS),
    cities: diffList(pair, CITIES),
    countries: diffList(pair, COUNTRIES),
  };
}

/** Compares the regions, as `diffCatalogs` does. */
export function diffRegions(pair: VersionPair): CatalogDiff["regions"] {
  return diffList(pair, {
    field: "regions",
    read: readRegion,
    compare: (before, after) => compareRegions(before, after, pair),
  });
}

/** Counts the entities of each list that differ. */
export function countChanges({ airports, cities, countries, regions }: CatalogDiff): ChangeCounts {
  return {
    airports: airports.counts,
    cities: cities.counts,
    countries: countries.counts,
    regions: regions.counts,
  };
}

/** Reads a list whose entities are compared field by field. */
function plainReader<M extends Airport | City | Country, F extends { readonly id: string }>(
  field: keyof Counts,
  schema: GenMessage<M>,
  toFields: (message: M) => F,
  labelOf: (fields: F) => string,
): ListReader<F, EntityChange<F>> {
  const read = (entity: Uint8Array) => toFields(fromBinary(schema, entity));
  return {
    field,
    read,
    compare(before, after) {
      const fields = read(after);
      return compareFields(read(before), fields, labelOf(fields));
    },
  };
}

const AIRPORTS = plainReader("airports", AirportSchema, airportFields, ({ iata }) => iata);
const CITIES = plainReader("cities", CitySchema, cityFields, ({ name }) => name);
const COUNTRIES = plainReader(
  "countries",
  CountrySchema,
  countryFields,
  ({ iso_code2 }) => iso_code2,
);

function readRegion(entity: Uint8Array): RegionFields {
  return regionFields(fromBinary(RegionSchema, entity));
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

/** Returns the `codes` that are missing from `others`. */
function missingFrom(others: readonly string[], codes: readonly string[]): string[] {
  const known = new Set(others);
  return codes.filter((code) => !known.has(code));
}

/** Converts an airport to JSON with the contract's field names and ids as UUID text. */
function airportFields({ id, iata, icao, name, lat, lon, cityId }: Airport): AirportFields {
  return { id: uuidOf(id), iata, icao, name, lat, lon, city_id: uuidOf(cityId) };
}

function cityFields({ id, name, countryId, lat, lon }: City): CityFields {
  return { id: uuidOf(id), name, country_id: uuidOf(countryId), lat, lon };
}

function countryFields(country: Country): CountryFields {
  return {
    id: uuidOf(country.id),
    iso_code2: country.isoCode2,
    iso_code3: country.isoCode3,
    name_eng: country.nameEng,
    name_native: country.nameNative,
    phone_prefix: country.phonePrefix,
  };
}

function regionFields(region: Region): RegionFields {
  return {
    id: uuidOf(region.id),
    slug: region.slug,
    name: region.name,
    name_localized: region.nameLocalized,
    slug_localized: region.slugLocalized,
    airport_iata_codes: region.airportIataCodes,
  };
}

function uuidOf(id: Uuid | undefined): string {
  if (id === undefined) throw new Error("a reference without an id");
  return idText(id.value);
}
