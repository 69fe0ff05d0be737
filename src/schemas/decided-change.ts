/** An operator's decisions about held changes, as the audit records them and the pages show them. */
import type { HeldChange } from "./held-change.ts";

type Value = string | number | boolean;
/** The fields of a record, by name. */
export type Fields = { readonly [field: string]: Value };

/** Maximum number of decided changes that an entry of the audit names, so that D1 takes its row. */
export const DECIDED_MAX = 2_000;

export interface DecidedChange extends Pick<HeldChange, "id" | "iata" | "name"> {
  /** The fields that differ. `before`: as served, null if it is new; `after`: null if it leaves. */
  readonly fields: readonly {
    readonly field: string;
    readonly before: Value | null;
    readonly after: Value | null;
  }[];
}

/** The most informative fields of an airport that is new or gone. */
const TELLING = ["name", "municipality", "region", "country", "type", "scheduled"];

export function changedFields({ before, after }: Pick<HeldChange, "before" | "after">): string[] {
  if (before !== null && after !== null) {
    const [served, wanted]: [Fields, Fields] = [before, after];
    return Object.keys(wanted).filter((field) => served[field] !== wanted[field]);
  }
  const only: Fields = before ?? after ?? {};
  return TELLING.filter((field) => only[field] !== undefined && only[field] !== "");
}

export function decidedChange(held: HeldChange): DecidedChange {
  const { id, iata, name } = held;
  const [before, after]: [Fields | null, Fields | null] = [held.before, held.after];
  const fields = changedFields(held).map((field) => ({
    field,
    before: before?.[field] ?? null,
    after: after?.[field] ?? null,
  }));
  return { id, iata, name, fields };
}

/** Whether the airport is large here or at upstream. */
export function isLarge({ before, after }: Pick<HeldChange, "before" | "after">): boolean {
  return [before, after].some(
    (record) => record !== null && "type" in record && record.type === "large_airport",
  );
}

/** Names the first few: "GVA, ZRH, LIN and 96 more". */
export function namesOf(changes: readonly Pick<HeldChange, "iata" | "name">[]): string {
  const names = changes.slice(0, NAMED).map(({ iata, name }) => iata ?? name);
  const others = changes.length - names.length;
  return `${names.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

const NAMED = 3;

/** The decided changes in the `after` of an audit entry. */
export function decidedIn(after: unknown): readonly DecidedChange[] {
  const isDecision = typeof after === "object" && after !== null && "changes" in after;
  // Only decisions write them.
  return isDecision ? (after.changes as readonly DecidedChange[]) : [];
}
