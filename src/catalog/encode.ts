import { create, type DescMessage, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type Airport as AirportMessage,
  AirportSchema,
  type City as CityMessage,
  CitySchema,
  type Country as CountryMessage,
  CountrySchema,
  LocationsResponseSchema,
  type Region as RegionMessage,
  RegionSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "./bytes.ts";
import { localizedName } from "./integrity.ts";
import type { Airport, Catalog, City, Country, Region, RegionNames } from "./model.ts";

/**
 * Two byte arrays that join to one LocationsResponse. `common` has the airports, cities and
 * countries and is the same in every locale; `local` has the regions.
 */
export interface EncodedPart {
  readonly proto: Uint8Array<ArrayBuffer>;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** Both encodings of a part. Every representation frames one of them. */
export type Form = keyof EncodedPart;

/** Messages per chunk; bounds the memory in addition to the encoded bytes. */
const CHUNK_LENGTH = 500;

/**
 * Encodes the lists that all locales share, piece by piece, to save memory. Serialized messages
 * concatenate (Protocol Buffers encoding, "Last One Wins"): `proto` is a LocationsResponse without
 * regions, `json` is the beginning of its ProtoJSON object. The lists must not be empty.
 */
export function* commonPieces(catalog: Catalog, form: Form): Generator<Uint8Array> {
  for (const [index, list] of COMMON_LISTS.entries()) {
    if (form === "json") yield utf8(index === 0 ? "{" : ",");
    yield* listPieces(catalog, list, form);
  }
}

const COMMON_LISTS = ["airports", "cities", "countries"] as const;

/** Encodes one list of `commonPieces`. In `proto` each piece is a LocationsResponse. */
export function listPieces(
  { airports, cities, countries }: Catalog,
  list: (typeof COMMON_LISTS)[number],
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

/** Joins the pieces of `commonPieces` in both encodings. */
export function encodeCommon(catalog: Catalog): EncodedPart {
  return {
    proto: concatenate([...commonPieces(catalog, "proto")]),
    json: concatenate([...commonPieces(catalog, "json")]),
  };
}

/**
 * Encodes the localized part, piece by piece: the regions and the end of the ProtoJSON object. In
 * `proto` each piece is a LocationsResponse.
 */
export function* localPieces(
  regions: readonly Region[],
  names: RegionNames,
  form: Form,
): Generator<Uint8Array> {
  const toMessage = (region: Region) => regionMessage(region, names);
  if (form === "json") yield utf8(",");
  yield* encodeList(form, "regions", RegionSchema, regions, toMessage);
  if (form === "json") yield utf8("}");
}

/** Joins the pieces of `localPieces` in both encodings. */
export function encodeLocal(regions: readonly Region[], names: RegionNames): EncodedPart {
  return {
    proto: concatenate([...localPieces(regions, names, "proto")]),
    json: concatenate([...localPieces(regions, names, "json")]),
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

function airportMessage(airport: Airport): AirportMessage {
  return create(AirportSchema, {
    id: { value: airport.id },
    iata: airport.iata,
    icao: airport.icao,
    name: airport.name,
    lat: airport.lat,
    lon: airport.lon,
    cityId: { value: airport.cityId },
  });
}

function cityMessage(city: City): CityMessage {
  return create(CitySchema, {
    id: { value: city.id },
    name: city.name,
    countryId: { value: city.countryId },
    lat: city.lat,
    lon: city.lon,
  });
}

function countryMessage(country: Country): CountryMessage {
  return create(CountrySchema, {
    id: { value: country.id },
    isoCode2: country.isoCode2,
    isoCode3: country.isoCode3,
    nameEng: country.nameEng,
    nameNative: country.nameNative,
    phonePrefix: country.phonePrefix,
  });
}

function regionMessage(region: Region, names: RegionNames): RegionMessage {
  const { name, slug } = localizedName(region, names);
  return create(RegionSchema, {
    id: { value: region.id },
    slug: region.slug,
    name: region.name,
    nameLocalized: name,
    slugLocalized: slug,
    airportIataCodes: [...region.airportIataCodes],
  });
}

const encoder = new TextEncoder();

function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}
