import { sha256Hex } from "../catalog/hash.ts";
import type { Part, Values } from "./held-change.ts";

/** Names a change by the airport, the part and what upstream says. */
export function heldId(airport: string, part: Part, after: Values): string {
  return `${airport}-${part}-${sha256Hex(JSON.stringify(after)).slice(0, 8)}`;
}
