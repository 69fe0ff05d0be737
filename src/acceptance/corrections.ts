/**
 * The snapshot corrects what upstream had wrong on the day that it is of. A correction is made once,
 * and holds until upstream says something else than on that day. Pure.
 */
import type { SourceAirport } from "../sources/our-airports.ts";
import { type AcceptedAirport, goneOf, isSameValue, type Ledger, valuesOf } from "./airport.ts";
import { type HeldChange, newHeldChange, type Part, PARTS, type Values } from "./held-change.ts";
import type { Comparison } from "./comparison.ts";
import { heldId } from "./held-id.ts";
import { withUnsettled } from "./unsettled.ts";

/** An airport as upstream wrote it on the snapshot's day, and as the snapshot has it. */
export interface Correction {
  readonly id: string;
  /** Undefined if upstream did not list it. */
  readonly written: SourceAirport | undefined;
  /** Undefined if the snapshot does not list it. */
  readonly ours: SourceAirport | undefined;
}

type RunFacts = Pick<Comparison, "now" | "runId" | "source">;

/** A part of an airport that a correction changes. */
interface Patch {
  readonly id: string;
  readonly airport: SourceAirport;
  readonly part: Part;
  readonly written: Values;
  readonly ours: Values;
}

/** The state before anything was compared: the airports of the snapshot. */
export function firstLedger(airports: readonly SourceAirport[]): Ledger {
  const own = airports.map((airport) => ({ ...airport, row: airport.id }));
  return { accepted: { airports: own, gone: [], rows: null, corrections: [] }, held: [] };
}

/**
 * Makes the corrections that have not been made. A value that has become neither what upstream
 * wrote nor what the snapshot says is newer than the correction, and stays; the correction is
 * made if upstream returns to what it wrote.
 */
export function applyCorrections(
  ledger: Ledger,
  corrections: readonly Correction[],
  run: RunFacts,
): Ledger {
  const done = new Set(ledger.accepted.corrections);
  const patches = corrections.flatMap(patchesOf).filter(({ id }) => !done.has(id));
  const airports = new Map(ledger.accepted.airports.map((airport) => [airport.id, airport]));
  const gone = new Map(ledger.accepted.gone.map((airport) => [airport.id, airport]));
  const held = new Map(ledger.held.map((each) => [each.id, each]));
  const made: string[] = [];
  for (const patch of patches) {
    const { airport } = patch;
    const present = airports.get(airport.id);
    if (!fits(patch, present, airports)) continue;
    made.push(patch.id);
    if (patch.ours === null) {
      airports.delete(airport.id);
      gone.set(airport.id, goneOf({ ...airport, row: present?.row ?? airport.id }));
    } else {
      gone.delete(airport.id);
      const own = present ?? { ...airport, row: airport.id };
      airports.set(airport.id, withUnsettled({ ...own, ...patch.ours }, patch.part));
    }
    const isDecided = held.get(patch.id)?.decided_by != null;
    if (!isDecided) held.set(patch.id, corrected(patch, run));
  }
  return {
    accepted: {
      ...ledger.accepted,
      airports: [...airports.values()],
      gone: [...gone.values()],
      corrections: [...done, ...made],
    },
    held: [...held.values()],
  };
}

function patchesOf({ id, written, ours }: Correction): Patch[] {
  const airport = ours ?? written;
  if (airport === undefined) return [];
  const parts = written && ours ? PARTS.filter((part) => part !== "listing") : ["listing" as const];
  return parts.flatMap((part) => {
    const [before, after] = [valuesOf(part, written), valuesOf(part, ours)];
    if (isSameValue(before, after)) return [];
    return [{ id: heldId(id, part, written), airport, part, written: before, ours: after }];
  });
}

/** Whether a value is still the one that is corrected, or is corrected already. */
function fits(
  { part, written, ours, airport }: Patch,
  present: AcceptedAirport | undefined,
  airports: ReadonlyMap<string, AcceptedAirport>,
): boolean {
  const is = valuesOf(part, present);
  const isTaken = [...airports.values()].some(
    ({ id, iata }) => iata === airport.iata && id !== airport.id,
  );
  if (isTaken && ours !== null && (part === "listing" || part === "code")) return false;
  return isSameValue(is, written) || isSameValue(is, ours);
}

function corrected({ written, ours, ...patch }: Patch, run: RunFacts): HeldChange {
  const held = newHeldChange({ ...patch, rules: [], before: ours, after: written }, run);
  return { ...held, state: "corrected", days_seen: 0 };
}
