/** What outlives a run of another source, which can neither confirm nor refute it. Pure. */
import type { SourceAirport } from "../sources/our-airports.ts";
import { goneOf, type Ledger } from "./airport.ts";
import type { Comparison } from "./comparison.ts";
import { type HeldChange, withDecision } from "./held-change.ts";
import { isUnbroken } from "./seen.ts";

type OtherRun = Pick<Comparison, "source" | "decisions" | "now">;

/** Whether only another source has said so. No source has said what a correction has just replaced. */
export function isOfOther({ source, days_seen }: HeldChange, run: Pick<OtherRun, "source">) {
  return source !== run.source && days_seen > 0;
}

/** Selects what other sources have said. What waits ends when it would have to wait anew. */
export function heldOfOthers(held: readonly HeldChange[], run: OtherRun): HeldChange[] {
  return held
    .filter((each) => isOfOther(each, run))
    .map((each) => withDecision(each, run.decisions))
    .filter((each) => each.state !== "waiting" || isUnbroken(each, run.now));
}

/**
 * Accepts all airports of a source that people have checked. The others are gone, and keep their
 * ids. Its corrections are to be made again.
 */
export function trustAirports(
  { accepted, held }: Ledger,
  airports: readonly SourceAirport[],
  run: OtherRun,
): Ledger {
  const rows = new Map(accepted.airports.map(({ id, row }) => [id, row]));
  const listed = new Set(airports.map(({ id }) => id));
  const others = [...accepted.airports, ...accepted.gone].filter(({ id }) => !listed.has(id));
  return {
    accepted: {
      airports: airports.map((airport) => ({
        ...airport,
        row: rows.get(airport.id) ?? airport.id,
      })),
      gone: others.map(goneOf),
      rows: accepted.rows,
      corrections: [],
    },
    held: heldOfOthers(held, run),
  };
}
