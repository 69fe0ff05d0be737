/** Makes the ids of the catalog, whose parts `id-origin.ts` describes. */
import { Buffer } from "node:buffer";
import { sha256Hex } from "./bytes.ts";
import { type EntityKind, ENTITY_KINDS, NAMESPACE, type SourceName, SOURCES } from "./id-origin.ts";

const ID_BYTES = 16;
const NUMBER_DIGITS = 12;

/** Id of an airport by its numeric OurAirports id, or by one of ours, from 1,000,000,000 on. */
export const airportId = (number: string): Uint8Array =>
  makeId("airport", "ourairports", decimal(number));

/** Id of a city: `geonames:3173435`, or `ourairports:SB-WE:munda`, which is hashed, if GeoNames lacks it. */
export function cityId(cityKey: string): Uint8Array {
  const [source, code] = parseKey(cityKey);
  switch (source) {
    case "geonames":
      return makeId("city", source, decimal(code));
    case "ourairports":
      return makeId("city", source, hashed(code));
    default:
      throw unknownKey(cityKey);
  }
}

/** Id of a country by its ISO 3166-1 alpha-2 code. */
export const countryId = (isoCode2: string): Uint8Array =>
  makeId("country", "iso3166-1", letters(isoCode2));

/** Id of a region: `iso3166-2:FR-OCC`, `iso3166-1:AI`, `m49:029`, or `travel:benelux`, which is hashed. */
export function regionId(regionKey: string): Uint8Array {
  const [source, code] = parseKey(regionKey);
  switch (source) {
    case "m49":
      return makeId("region", source, decimal(code));
    case "iso3166-1":
    case "iso3166-2":
      return makeId("region", source, letters(code));
    case "travel":
      return makeId("region", source, hashed(code));
    default:
      throw unknownKey(regionKey);
  }
}

function parseKey(key: string): [source: string, code: string] {
  const colon = key.indexOf(":");
  return [key.slice(0, colon), key.slice(colon + 1)];
}

function unknownKey(key: string): Error {
  return new Error(`${key} is no key of this kind of entity`);
}

function decimal(number: string): string {
  if (!/^\d{1,12}$/.test(number)) throw new Error(`"${number}" is no number of an id`);
  return number;
}

/** The letters of a code. An ISO code has at most six, but upstream may invent one. */
function letters(code: string): string {
  const plain = code.replaceAll("-", "");
  return plain.length > 6 ? hashed(code) : Buffer.from(plain, "ascii").toString("hex");
}

/** 40 bits: of 20,000 catalogs with 10,000 names, one has two equal hashes, and the checks refuse it. */
function hashed(name: string): string {
  return sha256Hex(name).slice(0, 10);
}

/** Ids share a buffer, because one buffer per id would take most of a catalog's memory. */
const IDS_IN_BUFFER = 512;

let buffer = Buffer.alloc(0);
let used = 0;

function makeId(kind: EntityKind, source: SourceName, digits: string): Uint8Array {
  if (used === buffer.length) {
    buffer = Buffer.alloc(IDS_IN_BUFFER * ID_BYTES);
    used = 0;
  }
  buffer.write(
    NAMESPACE + ENTITY_KINDS[kind] + SOURCES[source] + digits.padStart(NUMBER_DIGITS, "0"),
    used,
    "hex",
  );
  used += ID_BYTES;
  return new Uint8Array(buffer.buffer, buffer.byteOffset + used - ID_BYTES, ID_BYTES);
}

export function compareIds(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < 16; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Formats an id as a map key of 32 hex digits. */
export function idKey(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.length).toString("hex");
}

/** Formats an id as a UUID (RFC 9562, section 4): `d6c5e9f2-5c0b-8d0e-8001-000000002217`. */
export function idText(id: Uint8Array): string {
  return idKey(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
