import type { Change } from "./airport-changes.ts";
import { type AirportRow, isOpen } from "./airports.ts";

/** An airport that `curated/airports.csv` changes. */
export interface Correction {
  readonly id: number;
  /** The row of the newest day; undefined where that day lacks the airport or its IATA code. */
  readonly before: AirportRow | undefined;
}

/**
 * The airports whose place in the catalog the curated rows change, by ascending id. A curated row
 * that says what the newest day says already, such as that an airport is closed, changes none.
 *
 * @param newest rows of the newest day of OurAirports.
 * @param airports airports of the catalog.
 */
export function listCorrections(
  newest: readonly AirportRow[],
  airports: readonly AirportRow[],
  changes: readonly Change[],
): Correction[] {
  const before = new Map(newest.map((row) => [row.id, row]));
  const after = new Map(airports.map((row) => [row.id, row]));
  const ids = [...new Set(changes.map(({ id }) => Number(id)))].toSorted((a, b) => a - b);
  return ids
    .map((id) => ({ id, old: before.get(id), now: after.get(id) }))
    .filter(({ old, now }) => !isSame(old !== undefined && isOpen(old) ? old : undefined, now))
    .map(({ id, old }) => ({ id, before: old?.iata === "" ? undefined : old }));
}

function isSame(a: AirportRow | undefined, b: AirportRow | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
