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
 * Two runs of bytes whose concatenation is one LocationsResponse: `common` holds the airports,
 * cities and countries and is the same in every locale, `local` holds the regions.
 */
export interface EncodedPart {
  readonly proto: Uint8Array<ArrayBuffer>;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** Messages built at a time: bounds the memory above that of the encoded bytes. */
const CHUNK_LENGTH = 500;

/**
 * Encodes what is the same in every locale. Serialized messages concatenate (Protocol Buffers
 * encoding, "Last One Wins"), so `proto` is a LocationsResponse without regions, and `json` the
 * beginning of its ProtoJSON object. The catalog's lists must not be empty.
 */
export function encodeCommon(catalog: Catalog): EncodedPart {
  const airports = encodeList("airports", AirportSchema, catalog.airports, airportMessage);
  const cities = encodeList("cities", CitySchema, catalog.cities, cityMessage);
  const countries = encodeList("countries", CountrySchema, catalog.countries, countryMessage);
  return {
    proto: concatenate([...airports.proto, ...cities.proto, ...countries.proto]),
    json: concatenate([
      utf8("{"),
      ...airports.json,
      utf8(","),
      ...cities.json,
      utf8(","),
      ...countries.json,
    ]),
  };
}

/** Encodes what varies with the locale: the regions, and the end of the ProtoJSON object. */
export function encodeLocal(regions: readonly Region[], names: RegionNames): EncodedPart {
  const encoded = encodeList("regions", RegionSchema, regions, (region) =>
    regionMessage(region, names),
  );
  return {
    proto: concatenate(encoded.proto),
    json: concatenate([utf8(","), ...encoded.json, utf8("}")]),
  };
}

function encodeList<T, D extends DescMessage>(
  field: "airports" | "cities" | "countries" | "regions",
  schema: D,
  entities: readonly T[],
  toMessage: (entity: T) => MessageShape<D>,
): { proto: Uint8Array[]; json: Uint8Array[] } {
  const proto: Uint8Array[] = [];
  const json: Uint8Array[] = [utf8(`"${field}":[`)];
  for (let start = 0; start < entities.length; start += CHUNK_LENGTH) {
    const messages = entities.slice(start, start + CHUNK_LENGTH).map(toMessage);
    proto.push(
      toBinary(LocationsResponseSchema, create(LocationsResponseSchema, { [field]: messages })),
    );
    const texts = messages.map((message) => JSON.stringify(toJson(schema, message)));
    json.push(utf8((start === 0 ? "" : ",") + texts.join(",")));
  }
  json.push(utf8("]"));
  return { proto, json };
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
