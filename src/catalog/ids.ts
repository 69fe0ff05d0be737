import { Buffer } from "node:buffer";
import { v5 } from "uuid";

/**
 * Namespace of every id of the catalog. Never change it: each id is a UUIDv5 (RFC 9562, section
 * 5.5) of this namespace and an ASCII name.
 */
const NAMESPACE = "d6c5e9f2-5c0b-4d0e-9a39-2f6f5f3b8a41";

/** Id of an airport by its numeric OurAirports id, which survives changes of codes and names. */
export const airportId = (ourAirportsId: string): Uint8Array =>
  idOf(`airport:ourairports:${ourAirportsId}`);

/** Id of a city by its key, such as `geonames:3173435`. */
export const cityId = (cityKey: string): Uint8Array => idOf(`city:${cityKey}`);

/** Id of a country by its ISO 3166-1 alpha-2 code. */
export const countryId = (isoCode2: string): Uint8Array => idOf(`country:iso3166-1:${isoCode2}`);

/** Id of a region by its key, such as `iso3166-2:FR-OCC`. */
export const regionId = (regionKey: string): Uint8Array => idOf(`region:${regionKey}`);

const ID_BYTES = 16;
/** Ids share a buffer, because one buffer per id would take most of a catalog's memory. */
const IDS_IN_BUFFER = 512;

let buffer = new Uint8Array(0);
let used = 0;

function idOf(name: string): Uint8Array {
  if (used === buffer.length) {
    buffer = new Uint8Array(IDS_IN_BUFFER * ID_BYTES);
    used = 0;
  }
  v5(name, NAMESPACE, buffer, used);
  return buffer.subarray(used, (used += ID_BYTES));
}

/** Compares two ids by their bytes. */
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

/** Formats an id as a UUID (RFC 9562, section 4): `6ba7b810-9dad-51d1-80b4-00c04fd430c8`. */
export function idText(id: Uint8Array): string {
  return idKey(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
