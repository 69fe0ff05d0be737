/**
 * Compares two versions of the catalog in one locale.
 *
 * Pure: no clock, no I/O. Time is linear in the entities. It decodes only entities whose bytes
 * differ, because two decoded versions would take much of an isolate's memory.
 */
import { Buffer } from "node:buffer";
import { fromBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type Airport,
  AirportSchema,
  type City,
  CitySchema,
  type Country,
  CountrySchema,
  LocationsResponseSchema,
  RegionSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import {
  airportFields,
  type AirportFields,
  cityFields,
  type CityFields,
  countryFields,
  type CountryFields,
  regionFields,
  type RegionFields,
} from "./entity-fields.ts";
import type { Counts } from "./manifest.ts";

/** An entity in both versions. `before` and `after` have only the fields that differ. */
interface Change<F> {
  readonly id: string;
  /** Label in the later version: IATA code, name, ISO 3166-1 code or slug. */
  readonly label: string;
  readonly before: Partial<F>;
  readonly after: Partial<F>;
}

/** `airport_iata_codes` is present if the region gained or lost airports. */
interface RegionChange extends Change<Omit<RegionFields, "airport_iata_codes">> {
  readonly airport_iata_codes?: CodeChanges;
}

export interface CodeChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Number of entities of a list that differ. */
export interface ListChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export type ChangeCounts = { readonly [L in keyof Counts]: ListChanges };

/** `added` and `changed` follow the later version's order, `removed` the earlier one's. */
export interface ListDiff<F, C = Change<F>> {
  /** Counts all differences, including unlisted ones. */
  readonly counts: ListChanges;
  readonly added: readonly F[];
  readonly changed: readonly C[];
  readonly removed: readonly F[];
}

export interface CatalogDiff {
  readonly airports: ListDiff<AirportFields>;
  readonly cities: ListDiff<CityFields>;
  readonly countries: ListDiff<CountryFields>;
  readonly regions: ListDiff<RegionFields, RegionChange>;
}

/** Two versions in the same locale. */
interface VersionPair {
  /** Bytes of a LocationsResponse. */
  readonly before: Uint8Array;
  /** Encoded LocationsResponses that together contain the list. */
  readonly after: (list: keyof Counts) => Iterable<Uint8Array>;
  /** Limit of each of `added`, `changed` and `removed`; unlimited if absent. */
  readonly maxListed?: number;
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

/**
 * Compares the regions, as `diffCatalogs` does.
 *
 * @param known changes of airport codes between these versions by encoded id. Codes are the same in
 *   all locales, and some regions have thousands: the comparison of one locale fills it for others.
 */
export function diffRegions(
  pair: VersionPair,
  known: KnownCodes = new Map(),
): CatalogDiff["regions"] {
  return diffList(pair, {
    field: "regions",
    read: readRegion,
    compare: (before, after) => compareRegions(before, after, known),
  });
}

export type KnownCodes = Map<string, CodeChanges>;

/** Counts the entities of each list that differ. */
export function countChanges({ airports, cities, countries, regions }: CatalogDiff): ChangeCounts {
  return {
    airports: airports.counts,
    cities: cities.counts,
    countries: countries.counts,
    regions: regions.counts,
  };
}

/** Describes how to read and compare the entities of one list. */
interface ListReader<F, C> {
  readonly field: keyof Counts;
  /** Decodes an entity. */
  readonly read: (entity: Uint8Array) => F;
  /** Compares two encoded entities. Undefined if no field differs. */
  readonly compare: (before: Uint8Array, after: Uint8Array) => C | undefined;
}

/** Reads a list whose entities are compared field by field. */
function plainReader<M extends Airport | City | Country, F extends { readonly id: string }>(
  field: keyof Counts,
  schema: GenMessage<M>,
  toFields: (message: M) => F,
  labelOf: (fields: F) => string,
): ListReader<F, Change<F>> {
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

function diffList<F, C>(
  { before, after, maxListed = Infinity }: VersionPair,
  { field, read, compare }: ListReader<F, C>,
): ListDiff<F, C> {
  const added = new CountedList<F>(maxListed);
  const changed = new CountedList<C>(maxListed);
  const removed = new CountedList<F>(maxListed);
  const unmatched = new Map<string, number>();
  for (const { at, entity } of entitiesOf(before, field)) unmatched.set(keyOf(entity), at);
  for (const message of after(field))
    for (const { entity } of entitiesOf(message, field)) {
      const key = keyOf(entity);
      const at = unmatched.get(key);
      if (at === undefined) {
        added.push(() => read(entity));
        continue;
      }
      unmatched.delete(key);
      const earlier = entityAt(before, at);
      if (areEqual(earlier, entity)) continue;
      const change = compare(earlier, entity);
      if (change !== undefined) changed.push(() => change);
    }
  for (const at of unmatched.values()) removed.push(() => read(entityAt(before, at)));
  return {
    counts: { added: added.count, changed: changed.count, removed: removed.count },
    added: added.listed,
    changed: changed.listed,
    removed: removed.listed,
  };
}

/** Counts all entities and keeps the first ones. */
class CountedList<T> {
  readonly listed: T[] = [];
  readonly #max: number;
  count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  push(make: () => T): void {
    if (this.count < this.#max) this.listed.push(make());
    this.count++;
  }
}

/** Iterates over the encoded entities of a list, with their offsets for `entityAt`. */
function* entitiesOf(
  message: Uint8Array,
  list: keyof Counts,
): Generator<{ readonly at: number; readonly entity: Uint8Array }> {
  const { number } = LocationsResponseSchema.field[list];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const at = reader.pos;
    if (field === number) yield { at, entity: reader.bytes() };
    else reader.skip(wireType, field);
  }
}

function entityAt(message: Uint8Array, at: number): Uint8Array {
  const reader = new BinaryReader(message);
  reader.pos = at;
  return reader.bytes();
}

/** Reads the encoded id of an encoded entity, which is in the same field of every message. */
function keyOf(entity: Uint8Array): string {
  const reader = new BinaryReader(entity);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === AirportSchema.field.id.number)
      return Buffer.from(reader.bytes()).toString("latin1");
    reader.skip(wireType, field);
  }
  throw new Error("an entity without an id");
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function compareFields<F extends { readonly id: string }>(
  before: F,
  after: F,
  label: string,
): Change<F> | undefined {
  const fields = Object.keys(after) as (keyof F)[]; // both are built by one function
  const differing = fields.filter((field) => before[field] !== after[field]);
  if (differing.length === 0) return undefined;
  return { id: after.id, label, before: pick(before, differing), after: pick(after, differing) };
}

function pick<F>(entity: F, fields: readonly (keyof F)[]): Partial<F> {
  return Object.fromEntries(fields.map((field) => [field, entity[field]])) as Partial<F>; // its own fields
}

function readRegion(entity: Uint8Array): RegionFields {
  return regionFields(fromBinary(RegionSchema, entity));
}

function compareRegions(
  before: Uint8Array,
  after: Uint8Array,
  known: KnownCodes,
): RegionChange | undefined {
  const key = keyOf(after);
  const codes = known.get(key) ?? compareCodes(before, after);
  known.set(key, codes);
  const { airport_iata_codes: _, ...was } = readRegion(withoutCodes(before));
  const { airport_iata_codes: __, ...is } = readRegion(withoutCodes(after));
  const change = compareFields(was, is, is.slug);
  if (codes.added.length === 0 && codes.removed.length === 0) return change;
  return {
    ...(change ?? { id: is.id, label: is.slug, before: {}, after: {} }),
    airport_iata_codes: codes,
  };
}

function compareCodes(before: Uint8Array, after: Uint8Array): CodeChanges {
  const had = readRegion(before).airport_iata_codes;
  const has = readRegion(after).airport_iata_codes;
  return { added: missingFrom(had, has), removed: missingFrom(has, had) };
}

/** Cuts an encoded region off at its airport codes, which encoders write last. */
function withoutCodes(region: Uint8Array): Uint8Array {
  const reader = new BinaryReader(region);
  while (reader.pos < reader.len) {
    const at = reader.pos;
    const [field, wireType] = reader.tag();
    if (field === RegionSchema.field.airportIataCodes.number) return region.subarray(0, at);
    reader.skip(wireType, field);
  }
  return region;
}

/** Returns the `codes` that are missing from `others`. */
function missingFrom(others: readonly string[], codes: readonly string[]): string[] {
  const known = new Set(others);
  return codes.filter((code) => !known.has(code));
}
