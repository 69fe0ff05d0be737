/** Compares one list of two versions. Pure: no clock, no I/O. */
import { Buffer } from "node:buffer";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { AirportSchema, LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { Counts } from "./model.ts";

/** An entity in both versions. `before` and `after` have only the fields that differ. */
export interface EntityChange<F> {
  readonly id: string;
  /** Label in the later version: IATA code, name, ISO 3166-1 code or slug. */
  readonly label: string;
  readonly before: Partial<F>;
  readonly after: Partial<F>;
}

export interface ListChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** `added` and `changed` follow the later version's order, `removed` the earlier one's. */
export interface ListDiff<F, C = EntityChange<F>> {
  /** Counts all differences, including unlisted ones. */
  readonly counts: ListChanges;
  readonly added: readonly F[];
  readonly changed: readonly C[];
  readonly removed: readonly F[];
}

/** The diff of a list that is the same in both versions. */
export const NO_DIFFERENCE = {
  counts: { added: 0, changed: 0, removed: 0 },
  added: [],
  changed: [],
  removed: [],
};

/** Two versions in the same locale, or in two. */
export interface VersionPair {
  /** Bytes of a LocationsResponse. */
  readonly before: Uint8Array;
  /** Encoded LocationsResponses that together contain the list. */
  readonly after: (list: keyof Counts) => Iterable<Uint8Array>;
  /** Limit of each of `added`, `changed` and `removed`; unlimited if absent. */
  readonly maxListed?: number;
  /** Whether their locales differ, so that localized fields are not compared. */
  readonly isOfTwoLocales?: boolean;
}

export interface ListReader<F, C> {
  readonly field: keyof Counts;
  readonly read: (entity: Uint8Array) => F;
  /** Compares two encoded entities. Undefined if no field differs. */
  readonly compare: (before: Uint8Array, after: Uint8Array) => C | undefined;
}

export function diffList<F, C>(
  { before, after, maxListed = Infinity }: VersionPair,
  { field, read, compare }: ListReader<F, C>,
): ListDiff<F, C> {
  const added = new CountedList<F>(maxListed);
  const changed = new CountedList<C>(maxListed);
  const removed = new CountedList<F>(maxListed);
  const unmatched = new Map<string, number>();
  for (const { at, entity } of entitiesOf(before, field)) unmatched.set(entityKey(entity), at);
  for (const message of after(field))
    for (const { entity } of entitiesOf(message, field)) {
      const key = entityKey(entity);
      const at = unmatched.get(key);
      if (at === undefined) {
        added.push(() => read(entity));
        continue;
      }
      unmatched.delete(key);
      const earlier = entityAt(before, at);
      if (Buffer.compare(earlier, entity) === 0) continue;
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
function entityKey(entity: Uint8Array): string {
  const reader = new BinaryReader(entity);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === AirportSchema.field.id.number)
      return Buffer.from(reader.bytes()).toString("latin1");
    reader.skip(wireType, field);
  }
  throw new Error("an entity without an id");
}

/** Compares two entities field by field. Undefined if no field differs. */
export function compareFields<F extends { readonly id: string }>(
  before: F,
  after: F,
  label: string,
): EntityChange<F> | undefined {
  const fields = Object.keys(after) as (keyof F)[]; // both are built by one function
  const differing = fields.filter((field) => before[field] !== after[field]);
  if (differing.length === 0) return undefined;
  return { id: after.id, label, before: pick(before, differing), after: pick(after, differing) };
}

function pick<F>(entity: F, fields: readonly (keyof F)[]): Partial<F> {
  return Object.fromEntries(fields.map((field) => [field, entity[field]])) as Partial<F>; // its own fields
}
