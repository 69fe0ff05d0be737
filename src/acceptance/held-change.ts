/**
 * The only schema of a held change: the archived file, the OpenAPI document and the types follow
 * from it.
 */
import { z } from "zod";
import { count, type DeepReadonly, timestamp } from "../catalog/fields.ts";
import { seenNow } from "./seen.ts";

/** Why a change is surprising. */
export const RULES = [
  "vanishes",
  "closes",
  "loses_code",
  "appears",
  "changes_code",
  "takes_code",
  "changes_country",
  "moves",
  "loses_city",
  "loses_region",
  "changes_name",
  "demoted",
  "region_emptied",
] as const;
export type Rule = (typeof RULES)[number];

/** What of an airport changes. Each part is accepted or held as a whole. */
export const PARTS = ["listing", "code", "name", "place", "service"] as const;
export type Part = (typeof PARTS)[number];

/**
 * - `waiting`: until upstream has said the same for long enough, or somebody decides.
 * - `approved`: the next run takes it over, unless its code is another airport's still.
 * - `rejected`: until upstream says something else.
 * - `corrected`: the snapshot knows better, until upstream says something else.
 */
export const HELD_STATES = ["waiting", "approved", "rejected", "corrected"] as const;

const values = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .nullable()
  .meta({ description: "Values by field; null if the airport is not listed." });

export const heldChangeSchema = z
  .strictObject({
    id: z.string().meta({ description: "Another one as soon as upstream says something else." }),
    state: z.enum(HELD_STATES),
    airport: z.string().meta({ description: "Number of the airport, as in its id." }),
    iata: z.string(),
    name: z.string(),
    part: z.enum(PARTS),
    rules: z.array(z.enum(RULES)).meta({ description: "Why it is held, or would be." }),
    before: values,
    after: values,
    since: timestamp.meta({ description: "When a run saw it first." }),
    last_seen: timestamp,
    days_seen: count.meta({ description: "Number of days on which a run saw it." }),
    run_id: z.string().meta({ description: "The run that saw it first." }),
    source: z.string().meta({ description: "The source that says so." }),
    decided_by: z.string().nullable(),
    decided_at: timestamp.nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: "HeldChange", description: "A change by upstream that is not served." });

export type HeldChange = DeepReadonly<z.output<typeof heldChangeSchema>>;
export type Values = HeldChange["after"];

/** Makes a change that a run sees first. */
export function newHeldChange(
  { id, airport, part, rules, before, after }: NewChange,
  { now, runId, source }: { readonly now: number; readonly runId: string; readonly source: string },
): HeldChange {
  return {
    id,
    state: "waiting",
    airport: airport.id,
    iata: airport.iata,
    name: airport.name,
    part,
    rules,
    before,
    after,
    ...seenNow(now),
    days_seen: 1,
    run_id: runId,
    source,
    decided_by: null,
    decided_at: null,
    note: null,
  };
}

interface NewChange extends Pick<HeldChange, "id" | "part" | "rules" | "before" | "after"> {
  readonly airport: Pick<HeldChange, "id" | "iata" | "name">;
}

/** What an operator decides about a held change. */
export interface Decision {
  /** Id of the held change. */
  readonly id: string;
  readonly verdict: "approved" | "rejected";
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  readonly note: string | null;
}

/** Applies the latest decision about a held change. */
export function withDecision(held: HeldChange, decisions: readonly Decision[]): HeldChange {
  const decision = decisions.findLast(({ id }) => id === held.id);
  if (decision === undefined) return held;
  const { verdict, by, at, note } = decision;
  return { ...held, state: verdict, decided_by: by, decided_at: at, note };
}
