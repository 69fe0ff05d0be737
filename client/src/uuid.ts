import type { Uuid } from "../../gen/locations/v1/locations_pb.ts";

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats a UUID; returns "" for none. */
export function uuidText(id: Uuid | undefined): string {
  const value = id?.value ?? [];
  let text = "";
  for (let index = 0; index < value.length; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
    text += HEX[value[index] ?? 0];
  }
  return text;
}

/** Reads the 16 bytes of a UUID. */
export function uuidBytes(text: string): Uint8Array<ArrayBuffer> {
  const pairs = text.replaceAll("-", "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}
