/**
 * Compares two versions of the catalog in one locale.
 *
 * Pure: no clock, no I/O. Time is linear in the entities. It decodes only entities whose bytes
 * differ, because two decoded versions would take much of an isolate's memory.
 */
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
  type Region,
  RegionSchema,
  UuidSchema,
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
import { idKey } from "./ids.ts";
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
  return {
    airports: diffList(pair, {
      field: "airports",
      schema: AirportSchema,
      toFields: airportFields,
      compare: (before, after) => compareFields(before, after, after.iata),
    }),
    cities: diffList(pair, {
      field: "cities",
      schema: CitySchema,
      toFields: cityFields,
      compare: (before, after) => compareFields(before, after, after.name),
    }),
    countries: diffList(pair, {
      field: "countries",
      schema: CountrySchema,
      toFields: countryFields,
      compare: (before, after) => compareFields(before, after, after.iso_code2),
    }),
    regions: diffList(pair, {
      field: "regions",
      schema: RegionSchema,
      toFields: regionFields,
      compare: compareRegions,
    }),
  };
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

/** Describes how to read and compare the entities of one list. */
interface ListReader<M extends Airport | City | Country | Region, F, C> {
  readonly field: keyof Counts;
  readonly schema: GenMessage<M>;
  readonly toFields: (message: M) => F;
  /** Undefined if no field differs. */
  readonly compare: (before: F, after: F) => C | undefined;
}

function diffList<M extends Airport | City | Country | Region, F, C>(
  { before, after, maxListed = Infinity }: VersionPair,
  { field, schema, toFields, compare }: ListReader<M, F, C>,
): ListDiff<F, C> {
  const read = (entity: Uint8Array) => toFields(fromBinary(schema, entity));
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
      const change = compare(read(earlier), read(entity));
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

/** Reads the id of an encoded entity, which is in the same field of every message. */
function keyOf(entity: Uint8Array): string {
  const reader = new BinaryReader(entity);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === AirportSchema.field.id.number)
      return idKey(fromBinary(UuidSchema, reader.bytes()).value);
    reader.skip(wireType, field);
  }
  throw new Error("an entity without an id");
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
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

function compareRegions(before: RegionFields, after: RegionFields): RegionChange | undefined {
  const { airport_iata_codes: had, ...plainBefore } = before;
  const { airport_iata_codes: has, ...plainAfter } = after;
  const added = missingFrom(had, has);
  const removed = missingFrom(has, had);
  const change = compareFields(plainBefore, plainAfter, after.slug);
  if (added.length === 0 && removed.length === 0) return change;
  return {
    ...(change ?? { id: after.id, label: after.slug, before: {}, after: {} }),
    airport_iata_codes: { added, removed },
  };
}

/** Returns the `codes` that are missing from `others`. */
function missingFrom(others: readonly string[], codes: readonly string[]): string[] {
  const known = new Set(others);
  return codes.filter((code) => !known.has(code));
}
