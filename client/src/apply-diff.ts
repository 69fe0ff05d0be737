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
import { uuidBytes, uuidText } from "./uuid.ts";

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
 * SHA-256 of the result: it differs if the diff is that of another version, or if it has something
 * that this contract does not know, which is left out.
 */
export function applyDiff(catalog: LocationsResponse, diff: CatalogDiff): LocationsResponse {
  const { airports, cities, countries, regions } = catalog;
  return create(LocationsResponseSchema, {
    airports: sorted(patched(AirportSchema, airports, diff.airports), ({ iata }) => iata),
    cities: sorted(patched(CitySchema, cities, diff.cities), ({ id }) => uuidText(id)),
    countries: sorted(patched(CountrySchema, countries, diff.countries), ({ id }) => uuidText(id)),
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
  const byId = new Map<string, Entity>(list.map((entity) => [uuidText(entity.id), entity]));
  for (const { id } of removed) byId.delete(id);
  for (const { id, after, airport_iata_codes: codes } of changed) {
    const before = byId.get(id);
    if (before === undefined) continue;
    const entity: Entity = clone(schema, before as T);
    mergeFromJson(schema, entity as T, withUuids(after), TOLERANT);
    if (codes !== undefined) {
      const kept = entity.airportIataCodes?.filter((code) => !codes.removed.includes(code)) ?? [];
      entity.airportIataCodes = [...kept, ...codes.added].toSorted();
    }
    byId.set(id, entity);
  }
  for (const entity of added) byId.set(entity.id, fromJson(schema, withUuids(entity), TOLERANT));
  return [...byId.values()] as T[]; // each is of the schema
}

/** The contract may gain fields and values of enums. */
const TOLERANT = { ignoreUnknownFields: true };

/** ProtoJSON takes the names of a diff as they are, but wants a Uuid as a message of its own. */
function withUuids(entity: JsonObject): JsonObject {
  const uuids = ["id", "city_id", "country_id"].flatMap((field) => {
    const text = entity[field];
    return typeof text === "string" ? [[field, { value: base64Encode(uuidBytes(text)) }]] : [];
  });
  return { ...entity, ...Object.fromEntries(uuids) };
}

function sorted<T>(entities: readonly T[], keyOf: (entity: T) => string): T[] {
  return entities
    .map((entity) => ({ entity, key: keyOf(entity) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ entity }) => entity);
}
