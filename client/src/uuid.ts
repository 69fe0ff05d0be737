import type { Uuid } from "../../gen/locations/v1/locations_pb.ts";

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const DASH = "-".charCodeAt(0);

/**
 * Formats a UUID; returns "" for none. Makes the text at once, because one that is joined of parts
 * is slow as the key of a map.
 */
export function uuidText(id: Uuid | undefined): string {
  const value = id?.value ?? [];
  const codes: number[] = [];
  for (let index = 0; index < value.length; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) codes.push(DASH);
    const byte = value[index] ?? 0;
    codes.push(DIGITS[byte >> 4] ?? 0, DIGITS[byte & 15] ?? 0);
  }
  return String.fromCharCode(...codes);
}

/** Reads the 16 bytes of a UUID. */
export function uuidBytes(text: string): Uint8Array<ArrayBuffer> {
  const pairs = text.replaceAll("-", "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}
