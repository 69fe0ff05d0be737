import { sha256Hex } from "../catalog/hash.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import { valuesOf } from "./airport.ts";
import type { Part } from "./held-change.ts";
import type { Fate } from "./surprises.ts";

/**
 * Names a change by the airport, the part and what upstream says. Small edits of a position leave it
 * the same, and so do edits of a new airport apart from its code, name and country.
 *
 * @param said the airport as upstream lists it, or why it does not.
 */
export function heldId(airport: string, part: Part, said: SourceAirport | Fate): string {
  return `${airport}-${part}-${sha256Hex(JSON.stringify(gist(part, said))).slice(0, 8)}`;
}

function gist(part: Part, said: SourceAirport | Fate): unknown {
  if (said === undefined || typeof said === "string") return said ?? null;
  const { iata, name, country, region, municipality, lat, lon } = said;
  if (part === "listing") return [iata, name, country];
  // To a tenth of a degree: 11 km.
  if (part === "place") return [country, region, municipality, lat.toFixed(1), lon.toFixed(1)];
  return valuesOf(part, said);
}
