import { asEvidence } from "../catalog/evidence.ts";
import type { ChangeCounts } from "../catalog/diff.ts";
import type { Counts } from "../catalog/model.ts";
import type { Ledger } from "../acceptance/airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import type { Listed } from "../acceptance/identity.ts";
import type { AirportsRead, Reject } from "../catalog/source-airport.ts";
import type { HeldSummary, ListCounts, Report } from "../schemas/run-report.ts";
import { countReasons } from "../sources/upstream-reader.ts";
import type { Workspace } from "./workspace.ts";

/** The number of airports that an upstream file lists, and the numbers to compare it with. */
export interface FileMeasure {
  /** Rows with an IATA code. */
  readonly listed: number;
  /** Those of the previous file; null for the first file. */
  readonly before: number | null;
  readonly accepted: number;
  /** By so many percent, the file may list fewer than the smaller of these numbers, or more than the larger. */
  readonly slackPercent: number;
}

/** Findings of the parse stage in upstream's airports. */
export interface Parsed {
  /** Rows of airports. `seen` excludes the many without an IATA code. */
  readonly rows: {
    readonly seen: number;
    readonly rejected: number;
    /** Rejected rows by reason, the commonest first. */
    readonly reasons: { readonly [reason: string]: number };
  };
  /** Null for the embedded file, which is compared with nothing. */
  readonly measure: FileMeasure | null;
  /** Airports of the catalog that travellers use, and how many of them have a row in the file. */
  readonly listed: Listed;
  /** Number of the newest decision that it has applied. */
  readonly lastDecision: number;
  readonly held: HeldSummary;
}

const REJECTS_KEPT = 50;
const NEW_REGIONS_KEPT = 50;

export function countLists({ catalog }: Pick<Workspace, "catalog">): Counts {
  return {
    airports: catalog.airports.length,
    cities: catalog.cities.length,
    countries: catalog.countries.length,
    regions: catalog.regions.length,
  };
}

interface RowsRead {
  readonly read: Omit<AirportsRead, "airports">;
  /** Rejected rows of subdivisions. */
  readonly regionRejects: readonly Reject[];
}

export function account(
  { read, regionRejects }: RowsRead,
  workspace: Workspace,
): Pick<Report, "accounting" | "rejects" | "rejects_total"> {
  const { unscheduled, new_regions, unnamed_regions } = workspace;
  const rejects = [...read.rejects, ...regionRejects];
  return {
    accounting: {
      filtered: read.filtered,
      unscheduled,
      rejected_by_reason: countReasons(rejects),
      new_regions: firstRegions(new_regions),
      ...(unnamed_regions.length > 0 && { unnamed_regions: firstRegions(unnamed_regions) }),
    },
    rejects: rejects.slice(0, REJECTS_KEPT),
    rejects_total: rejects.length,
  };
}

function firstRegions(codes: readonly string[]): string[] {
  return codes.slice(0, NEW_REGIONS_KEPT).map((code) => asEvidence(code));
}

/** Summarizes the lists for the run. Before the first publication every entity counts as added. */
export function countEntities(
  workspace: Workspace,
  { rows }: Pick<Parsed, "rows">,
  changes: ChangeCounts | null,
): Report["counts"] {
  const kept = countLists(workspace);
  const list = (name: keyof Counts, seen = kept[name], rejected = 0): ListCounts => ({
    seen,
    kept: kept[name],
    rejected,
    ...(changes?.[name] ?? { added: kept[name], changed: 0, removed: 0 }),
  });
  return {
    airports: list("airports", rows.seen, rows.rejected),
    cities: list("cities"),
    countries: list("countries"),
    regions: list("regions"),
  };
}

export function summarizeHeld(before: Ledger, after: Ledger): NonNullable<Report["held"]> {
  const known = new Set(before.held.map(({ id }) => id));
  const isOpen = ({ state }: HeldChange) => state === "waiting";
  const waiting = after.held.filter(isOpen);
  const kept = new Set(after.held.map(({ id }) => id));
  const marked = waiting.filter(({ rules }) => rules.length > 0);
  const by_rule: { [rule: string]: number } = {};
  for (const rule of marked.flatMap(({ rules }) => rules)) by_rule[rule] = (by_rule[rule] ?? 0) + 1;
  return {
    waiting: waiting.length,
    added: waiting.filter(({ id }) => !known.has(id)).length,
    ended: before.held.filter((held) => isOpen(held) && !kept.has(held.id)).length,
    surprising: marked.length,
    by_rule,
    oldest_since: marked.map(({ since }) => since).toSorted()[0] ?? null,
    next_due_at: marked.flatMap(({ due_at }) => due_at ?? []).toSorted()[0] ?? null,
  };
}
