import type { Place } from "../../client/src/catalog.ts";
import type { Position } from "./permalink.ts";

/** Where countries are that have no airport, or none with scheduled flights: latitude and longitude. */
const POSITIONS: { readonly [country: string]: readonly [lat: number, lon: number] } = {
  AD: [42.51, 1.52],
  AX: [60.1, 19.94],
  BV: [-54.42, 3.36],
  GS: [-54.28, -36.51],
  HM: [-53.1, 73.51],
  IO: [-7.31, 72.41],
  LI: [47.14, 9.52],
  PN: [-25.07, -130.1],
  PS: [31.9, 35.2],
  SJ: [78.22, 15.65],
  SM: [43.94, 12.45],
  TF: [-49.35, 70.22],
  TK: [-9.38, -171.22],
  VA: [41.9, 12.45],
};

/** Where a country is that has no airport; undefined for any other place. */
export function positionOf(place: Place | undefined): Position | null {
  if (place?.kind !== "country" || place.airports.length > 0) return null;
  const [lat, lon] = POSITIONS[place.code] ?? [];
  return lat === undefined || lon === undefined ? null : { lat, lon };
}
