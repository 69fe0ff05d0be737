/**
 * Steps that surprise nobody may add up. A part that has changed lately is compared with the value
 * that it had before, until the present one has stood for as long as a surprise is held. Pure.
 */
import type { SourceAirport } from "../sources/our-airports.ts";
import {
  type AcceptedAirport,
  isImportant,
  isSameValue,
  settledOf,
  type Unsettled,
  valuesOf,
} from "./airport.ts";
import type { Judged } from "./comparison.ts";
import { type HeldChange, type Part, PARTS } from "./held-change.ts";
import { isRipe, seenAgain, seenNow } from "./seen.ts";

/** Forgets the former values of the parts that have settled. */
export function settle(
  airport: AcceptedAirport,
  upstream: SourceAirport,
  { now, holdMs }: { readonly now: number; readonly holdMs: number },
): AcceptedAirport {
  let settled = airport;
  for (const part of PARTS) {
    const its = airport.unsettled?.[part];
    if (its === undefined) continue;
    if (!isSameValue(valuesOf(part, airport), valuesOf(part, upstream))) continue;
    const seen = seenAgain(its, now);
    const unsettled = isRipe(seen, holdMs, now) ? undefined : { ...its, ...seen };
    settled = withUnsettled(settled, part, unsettled);
  }
  return settled;
}

/** Takes over the change of a part. Remembers the former value unless the change has waited. */
export function takeOver(
  airport: AcceptedAirport,
  { change: { part, after, said }, held }: Judged,
  { now, holdMs }: { readonly now: number; readonly holdMs: number },
): AcceptedAirport {
  const changed = { ...airport, ...after } as AcceptedAirport; // a part of an airport
  const settled = valuesOf(part, settledOf(airport));
  const isUsed = isImportant(airport) || (typeof said === "object" && isImportant(said));
  const matters = isUsed || (part === "place" && settled?.["region"] !== changed.region);
  const isNew = !hasWaited(held, { now, holdMs }) && matters && !isSameValue(settled, after);
  return withUnsettled(changed, part, isNew ? { settled, ...seenNow(now) } : undefined);
}

/** Whether a change has been known for long enough, or approved, so that it has settled. */
export function hasWaited(
  held: HeldChange,
  { now, holdMs }: { readonly now: number; readonly holdMs: number },
): boolean {
  return held.state === "approved" || isRipe(held, holdMs, now);
}

/** @param value undefined where the present value of the part has settled. */
export function withUnsettled(
  { unsettled = {}, ...airport }: AcceptedAirport,
  part: Part,
  value?: Unsettled,
): AcceptedAirport {
  const { [part]: _, ...others } = unsettled;
  const all = value === undefined ? others : { ...others, [part]: value };
  return Object.keys(all).length === 0 ? airport : { ...airport, unsettled: all };
}
