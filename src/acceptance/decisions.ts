/** The order of held changes, their decisions, and when they are due. */
import { compareText } from "../catalog/integrity.ts";
import { durationOf, HOUR_MS } from "../platform/time.ts";
import type { EpochMs, Instant } from "../platform/units.ts";
import { isLarge } from "../schemas/decided-change.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import { HELD_RULES } from "../schemas/held-rules.ts";

/** The place in the list of held changes: the most urgent first, then large airports, then by code. */
export function rankOf(held: HeldChange): string {
  const { rules, iata, id } = held;
  const [first] = rules;
  const rank = first === undefined ? HELD_RULES.length : HELD_RULES.indexOf(first);
  return `${String(rank).padStart(2, "0")} ${isLarge(held) ? "0" : "1"} ${iata ?? ""} ${id}`;
}

export function byRank(a: HeldChange, b: HeldChange): number {
  return compareText(rankOf(a), rankOf(b));
}

export interface Decision {
  readonly id: string;
  readonly verdict: "approved" | "rejected";
  readonly by: string;
  readonly at: Instant;
  readonly note: string | null;
}

type DecisionsById = ReadonlyMap<string, Decision>;

/** Indexes decisions by the id of their change; the latest counts. */
export function byChange(decisions: readonly Decision[]): DecisionsById {
  return new Map(decisions.map((decision) => [decision.id, decision]));
}

export function withDecision(held: HeldChange, decisions: DecisionsById): HeldChange {
  const decision = decisions.get(held.id);
  if (decision === undefined || held.state === "corrected") return held;
  const { verdict, by, at, note } = decision;
  return { ...held, state: verdict, due_at: null, decided_by: by, decided_at: at, note };
}

/** Longest time between two runs of a source: a day, and half a day for a late run. */
export const GAP_MS = 36 * HOUR_MS;
/** A change is due earlier by this time, because the daily run that first saw it may have been late. */
const LATENESS_MS = HOUR_MS;

/** Whether a run has seen the change recently. After a gap, upstream's values in between are unknown. */
export function isUnbroken({ last_seen }: Pick<HeldChange, "last_seen">, now: EpochMs): boolean {
  return durationOf(last_seen, now) <= GAP_MS;
}

/** Whether upstream has said the same for long enough. */
export function isDue({ due_at }: Pick<HeldChange, "due_at">, now: EpochMs): boolean {
  return due_at !== null && now >= Date.parse(due_at) - LATENESS_MS;
}
