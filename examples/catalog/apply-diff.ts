/** Applies an answer of `GET /catalog/diff` to a catalog. Pure. */
import {
  clone,
  create,
  fromJson,
  type JsonObject,
  mergeFromJson,
  type Message,
} from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  AirportSchema,
  CitySchema,
  CountrySchema,
  type LocationsResponse,
  LocationsResponseSchema,
  RegionSchema,
  type Uuid,
} from "../../gen/locations/v1/locations_pb.ts";

interface ListDiff {
  readonly added: readonly (JsonObject & { readonly id: string })[];
  readonly changed: readonly {
    readonly id: string;
    readonly after: JsonObject;
    readonly airport_iata_codes?: { readonly added: string[]; readonly removed: string[] };
  }[];
  readonly removed: readonly { readonly id: string }[];
}

/** A diff, as far as it is needed. */
export interface CatalogDiff {
  readonly locale: string;
  readonly airports: ListDiff;
  readonly cities: ListDiff;
  readonly countries: ListDiff;
  readonly regions: ListDiff;
}

/**
 * Returns the later version, in the order of the RPC. The earlier one stays as it is. Compare the
 * SHA-256 of the result: a diff of another version makes it a different one.
 */
export function applyDiff(catalog: LocationsResponse, diff: CatalogDiff): LocationsResponse {
  const { airports, cities, countries, regions } = catalog;
  return create(LocationsResponseSchema, {
    airports: sorted(patched(AirportSchema, airports, diff.airports), ({ iata }) => iata),
    cities: sorted(patched(CitySchema, cities, diff.cities), ({ id }) => idText(id)),
    countries: sorted(patched(CountrySchema, countries, diff.countries), ({ id }) => idText(id)),
    regions: sorted(patched(RegionSchema, regions, diff.regions), ({ slug }) => slug),
  });
}

interface Entity extends Message {
  id?: Uuid | undefined;
  airportIataCodes?: string[];
}

function patched<T extends Entity>(
  schema: GenMessage<T>,
  list: readonly T[],
  { added, changed, removed }: ListDiff,
): T[] {
  const byId = new Map<string, Entity>(list.map((entity) => [idText(entity.id), entity]));
  for (const { id } of removed) byId.delete(id);
  for (const { id, after, airport_iata_codes: codes } of changed) {
    const before = byId.get(id);
    if (before === undefined) continue;
    const entity: Entity = clone(schema, before as T);
    mergeFromJson(schema, entity as T, withUuids(after));
    if (codes !== undefined) {
      const kept = entity.airportIataCodes?.filter((code) => !codes.removed.includes(code)) ?? [];
      entity.airportIataCodes = [...kept, ...codes.added].toSorted();
    }
    byId.set(id, entity);
  }
  for (const entity of added) byId.set(entity.id, fromJson(schema, withUuids(entity)));
  return [...byId.values()] as T[]; // each is of the schema
}

/** ProtoJSON takes the names of a diff as they are, but wants a Uuid as a message of its own. */
function withUuids(entity: JsonObject): JsonObject {
  const uuids = ["id", "city_id", "country_id"].flatMap((field) => {
    const text = entity[field];
    return typeof text === "string" ? [[field, { value: base64Encode(bytesOf(text)) }]] : [];
  });
  return { ...entity, ...Object.fromEntries(uuids) };
}

function bytesOf(uuid: string): Uint8Array {
  const pairs = uuid.replaceAll("-", "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** A UUID in text; "" for none. */
export function idText(id: Uuid | undefined): string {
  const hex = Array.from(id?.value ?? [], (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function sorted<T>(entities: readonly T[], keyOf: (entity: T) => string): T[] {
  return entities
    .map((entity) => ({ entity, key: keyOf(entity) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ entity }) => entity);
}
