import { create, type DescMessage, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import {
  AirportSchema,
  CitySchema,
  CountrySchema,
  LocationsResponseSchema,
  RegionSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "./bytes.ts";
import { localizedName } from "./integrity.ts";
import type { Airport, Catalog, City, Country, Region, RegionNames } from "./model.ts";

/**
 * A shared part (airports, cities, countries) or a locale part (regions). In each form, the two join to
 * one LocationsResponse.
 */
export interface EncodedPart {
  readonly proto: Uint8Array<ArrayBuffer>;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** Both encodings of a part. Every representation frames one of them. */
export const FORMS = ["proto", "json"] as const;
export type Form = (typeof FORMS)[number];

/** Messages per chunk; bounds the memory in addition to the encoded bytes. */
const CHUNK_LENGTH = 500;

/**
 * Encodes the lists that all locales share, piece by piece, to save memory. Serialized messages
 * concatenate (Protocol Buffers encoding, "Last One Wins"): `proto` is a LocationsResponse without
 * regions, `json` is the start of its ProtoJSON object. The lists must not be empty.
 */
export function* sharedPieces(catalog: Catalog, form: Form): Generator<Uint8Array> {
  for (const [index, list] of SHARED_LISTS.entries()) {
    if (form === "json") yield utf8(index === 0 ? "{" : ",");
    yield* listPieces(catalog, list, form);
  }
}

const SHARED_LISTS = ["airports", "cities", "countries"] as const;

/** Encodes one list of `sharedPieces`. In `proto` each piece is a LocationsResponse. */
export function listPieces(
  { airports, cities, countries }: Catalog,
  list: (typeof SHARED_LISTS)[number],
  form: Form,
): Generator<Uint8Array> {
  switch (list) {
    case "airports":
      return encodeList(form, list, AirportSchema, airports, airportMessage);
    case "cities":
      return encodeList(form, list, CitySchema, cities, cityMessage);
    case "countries":
      return encodeList(form, list, CountrySchema, countries, countryMessage);
    default:
      return list satisfies never;
  }
}

/** Encodes the regions and the end of the ProtoJSON object, in pieces: in `proto`, LocationsResponses. */
export function* localePieces(
  regions: readonly Region[],
  names: RegionNames,
  form: Form,
): Generator<Uint8Array> {
  const toMessage = (region: Region) => regionMessage(region, names);
  if (form === "json") yield utf8(",");
  yield* encodeList(form, "regions", RegionSchema, regions, toMessage);
  if (form === "json") yield utf8("}");
}

export function encodeLocalePart(regions: readonly Region[], names: RegionNames): EncodedPart {
  return {
    proto: concatenate([...localePieces(regions, names, "proto")]),
    json: concatenate([...localePieces(regions, names, "json")]),
  };
}

function* encodeList<T, D extends DescMessage>(
  form: Form,
  field: "airports" | "cities" | "countries" | "regions",
  schema: D,
  entities: readonly T[],
  toMessage: (entity: T) => MessageShape<D>,
): Generator<Uint8Array> {
  if (form === "json") yield utf8(`"${field}":[`);
  for (let start = 0; start < entities.length; start += CHUNK_LENGTH) {
    const messages = entities.slice(start, start + CHUNK_LENGTH).map(toMessage);
    if (form === "proto") {
      const chunk = create(LocationsResponseSchema, { [field]: messages });
      yield toBinary(LocationsResponseSchema, chunk);
    } else {
      const texts = messages.map((message) => JSON.stringify(toJson(schema, message)));
      yield utf8((start === 0 ? "" : ",") + texts.join(","));
    }
  }
  if (form === "json") yield utf8("]");
}

function airportMessage({ id, cityId, ...airport }: Airport) {
  return create(AirportSchema, { ...airport, id: { value: id }, cityId: { value: cityId } });
}

function cityMessage({ id, countryId, ...city }: City) {
  return create(CitySchema, { ...city, id: { value: id }, countryId: { value: countryId } });
}

function countryMessage({ id, ...country }: Country) {
  return create(CountrySchema, { ...country, id: { value: id } });
}

function regionMessage(region: Region, names: RegionNames) {
  const { id, slug, name, airportIataCodes } = region;
  const { name: nameLocalized, slug: slugLocalized } = localizedName(region, names);
  const codes = [...airportIataCodes];
  const localized = { nameLocalized, slugLocalized, airportIataCodes: codes };
  return create(RegionSchema, { id: { value: id }, slug, name, ...localized });
}

const encoder = new TextEncoder();

function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}
