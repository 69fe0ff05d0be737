import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  AirportSchema,
  CitySchema,
  CountrySchema,
  type LocationsResponse,
  LocationsResponseSchema,
  RegionSchema,
  type Uuid,
} from "../../gen/locations/v1/locations_pb.ts";
import type { Place } from "../../client/src/catalog.ts";
import { uuidText } from "../../client/src/uuid.ts";

/** A message of the answer, for people. */
export interface PlaceMessage {
  /** Where it is in the answer, such as `airports[8989]`. */
  readonly path: string;
  /** The reference that leads to it from the place; empty for the place itself. */
  readonly via: string;
  readonly json: string;
  /** A line for each field: its name, and its bytes in hexadecimal digits. */
  readonly proto: string;
  /** Its size in the answer, uncompressed. */
  readonly bytes: Readonly<Record<"json" | "proto", number>>;
}

type ListName = "airports" | "cities" | "countries" | "regions";

const SCHEMAS = {
  airports: AirportSchema,
  cities: CitySchema,
  countries: CountrySchema,
  regions: RegionSchema,
} as const satisfies { [name in ListName]: DescMessage };

/** Of a longer field, only so many bytes are shown. */
const SHOWN_BYTES = 48;
/** Of a longer list, only so many items are shown. */
const SHOWN_ITEMS = 12;

const answers = new WeakMap<Uint8Array, LocationsResponse>();

/** The same of an answer in protobuf, which it parses once. */
export function messagesIn(
  bytes: Uint8Array,
  place: Pick<Place, "kind" | "id">,
): readonly PlaceMessage[] {
  const answer = answers.get(bytes) ?? fromBinary(LocationsResponseSchema, bytes);
  answers.set(bytes, answer);
  return placeMessages(answer, place);
}

/** Finds the message of a place, and those that it is joined with: its city, say, and its regions. */
export function placeMessages(
  answer: LocationsResponse,
  { kind, id }: Pick<Place, "kind" | "id">,
): PlaceMessage[] {
  const { airports, cities, countries, regions } = answer;
  const show = (list: ListName, at: number, via: string) =>
    at < 0 ? [] : [describe(answer, list, at, via)];
  const isPlace = ({ id: other }: { readonly id?: Uuid | undefined }) => uuidText(other) === id;
  const showCountryOf = (city: number) => {
    const wanted = uuidText(cities[city]?.countryId);
    const at = countries.findIndex((country) => uuidText(country.id) === wanted);
    return show("countries", at, "City.country_id");
  };
  switch (kind) {
    case "airport": {
      const at = airports.findIndex(isPlace);
      const iata = airports[at]?.iata ?? "";
      const wanted = uuidText(airports[at]?.cityId);
      const city = cities.findIndex((other) => uuidText(other.id) === wanted);
      return [
        ...show("airports", at, ""),
        ...show("cities", city, "Airport.city_id"),
        ...showCountryOf(city),
        ...regions.flatMap((region, index) =>
          region.airportIataCodes.includes(iata)
            ? show("regions", index, "Region.airport_iata_codes")
            : [],
        ),
      ];
    }
    case "city": {
      const at = cities.findIndex(isPlace);
      return [
        ...show("cities", at, ""),
        ...showCountryOf(at),
        ...airports.flatMap(({ cityId }, index) =>
          uuidText(cityId) === id ? show("airports", index, "Airport.city_id") : [],
        ),
      ];
    }
    case "country":
      return show("countries", countries.findIndex(isPlace), "");
    case "region":
      return show("regions", regions.findIndex(isPlace), "");
    default:
      return kind satisfies never;
  }
}

function describe(
  answer: LocationsResponse,
  list: ListName,
  at: number,
  via: string,
): PlaceMessage {
  const schema: DescMessage = SCHEMAS[list];
  const message: Message | undefined = answer[list][at];
  if (message === undefined) throw new RangeError(`the answer has no ${list}[${at}]`);
  const json = toJson(schema, message);
  const { length } = toBinary(schema, message);
  return {
    path: `${list}[${at}]`,
    via,
    json: jsonText(json),
    proto: protoText(schema, message),
    bytes: {
      json: new TextEncoder().encode(JSON.stringify(json)).length,
      // The tag and the length come first.
      proto: 1 + varintBytes(length) + length,
    },
  };
}

/** Formats a message, with lists of codes on one line. */
function jsonText(json: unknown): string {
  return JSON.stringify(json, (_, value: unknown) => (Array.isArray(value) ? cut(value) : value), 2)
    .replaceAll(/\[[^[\]{}]*\]/g, (list) => list.replaceAll(/\s+/g, " "))
    .replaceAll(/\{\s+"value": ("[^"]*")\s+\}/g, '{ "value": $1 }');
}

function cut(items: readonly unknown[]): readonly unknown[] {
  const more = items.length - SHOWN_ITEMS;
  return more > 0 ? [...items.slice(0, SHOWN_ITEMS), `… ${more} more`] : items;
}

function protoText(schema: DescMessage, message: Message): string {
  const all = reflect(schema, message);
  const lines = all.sortedFields
    .filter((field) => all.isSet(field))
    .map((field) => {
      const only = reflect(schema, create(schema));
      only.set(field, all.get(field));
      return { name: field.name, bytes: hexText(toBinary(schema, only.message)) };
    });
  const width = Math.max(...lines.map(({ name }) => name.length));
  return lines.map(({ name, bytes }) => `${name.padEnd(width)}  ${bytes}`).join("\n");
}

function hexText(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, SHOWN_BYTES), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join(" ");
  return bytes.length > SHOWN_BYTES ? `${shown} … ${bytes.length - SHOWN_BYTES} more` : shown;
}

/** The length of a number as a varint. */
function varintBytes(value: number): number {
  return Math.max(1, Math.ceil(Math.log2(value + 1) / 7));
}
