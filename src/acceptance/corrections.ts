/** Corrects the errors that upstream had on the day of the snapshot. Pure. */
import { distanceKm, isNear } from "../catalog/positions.ts";
import { node } from "../platform/node.ts";
import type { SourceAirport } from "../catalog/source-airport.ts";
import type { Correction } from "../catalog/source-airport.ts";
import { type Accepted, SAME_POSITION_KM } from "./airport.ts";

/** A corrected airport: upstream's values, and those that count instead; null if it is not listed. */
interface Overruled {
  readonly id: string;
  readonly observed: SourceAirport | null;
  readonly ours: SourceAirport | null;
}

interface Corrected {
  readonly airports: readonly SourceAirport[];
  readonly overruled: readonly Overruled[];
}

/**
 * Replaces each value that is still the one that upstream wrote on the snapshot's day. Any other value
 * is newer than the correction, and stays.
 *
 * @param airports upstream's, with unique codes and row numbers.
 * @param accepted has the present row numbers.
 */
export function correctAirports(
  airports: readonly SourceAirport[],
  corrections: readonly Correction[],
  accepted: Accepted,
): Corrected {
  const rows = new Map([...accepted.airports, ...accepted.gone].map(({ id, row }) => [id, row]));
  const byRow = new Map(airports.map((airport) => [airport.id, airport]));
  const byCode = new Map(airports.map((airport) => [airport.iata, airport]));
  const overruled: Overruled[] = [];
  for (const { id, written, ours } of corrections) {
    if (written === undefined) continue;
    // Upstream may have renumbered the row, or given its number to another airport.
    const numbered = byRow.get(rows.get(id) ?? id);
    const isIt =
      numbered !== undefined &&
      [written, ours ?? written].some(
        (airport) => airport.iata === numbered.iata || isNear(airport, numbered),
      );
    const observed =
      rowAt(ours ?? written, byCode) ?? (isIt ? numbered : undefined) ?? rowAt(written, byCode);
    if (observed === undefined) continue;
    const corrected = correctRow(observed, { written, ours }, byCode);
    if (corrected === observed) continue;
    overruled.push({ id, observed, ours: corrected });
    byCode.delete(observed.iata);
    if (corrected === null) byRow.delete(observed.id);
    else byRow.set(observed.id, corrected);
    if (corrected !== null) byCode.set(corrected.iata, corrected);
  }
  for (const { id, written, ours } of corrections) {
    if (written !== undefined || ours === undefined) continue;
    if (byRow.has(ours.id) || byCode.has(ours.iata)) continue;
    overruled.push({ id, observed: null, ours });
    byRow.set(ours.id, ours);
  }
  return { airports: [...byRow.values()], overruled };
}

/** Finds the row of an airport by its code and place. */
function rowAt(
  airport: SourceAirport,
  byCode: ReadonlyMap<string, SourceAirport>,
): SourceAirport | undefined {
  const found = byCode.get(airport.iata);
  return found !== undefined && isNear(found, airport) ? found : undefined;
}

/** @returns the same row if it needs no correction; null if it should not be listed. */
function correctRow(
  observed: SourceAirport,
  { written, ours }: { written: SourceAirport; ours: SourceAirport | undefined },
  byCode: ReadonlyMap<string, SourceAirport>,
): SourceAirport | null {
  const isUnchanged = (field: keyof SourceAirport) => observed[field] === written[field];
  if (ours === undefined)
    return isUnchanged("iata") && isUnchanged("name") && isUnchanged("country") ? null : observed;
  // Also covers future fields of airports.
  const { id: _row, iata, lat, lon, ...others } = ours;
  const entries = Object.entries(others) as [keyof SourceAirport, unknown][]; // of an airport
  const isMoved = lat !== written.lat || lon !== written.lon;
  const corrected = {
    ...observed,
    ...Object.fromEntries(entries.filter(([field]) => isUnchanged(field))),
    ...(isUnchanged("iata") && !byCode.has(iata) && { iata }),
    ...(isMoved && distanceKm(observed, written) <= SAME_POSITION_KM && { lat, lon }),
  };
  return node.util.isDeepStrictEqual(corrected, observed) ? observed : corrected;
}
