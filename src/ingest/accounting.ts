import { asEvidence } from "../catalog/evidence.ts";
import type { ChangeCounts } from "../catalog/diff.ts";
import type { Counts } from "../catalog/manifest.ts";
import type { ListCounts, Run } from "./run.ts";
import type { Workspace } from "./workspace.ts";

const NO_CHANGES = { added: 0, changed: 0, removed: 0 };

/** Counts of a candidate that equals the published version. */
export const UNCHANGED: ChangeCounts = {
  airports: NO_CHANGES,
  cities: NO_CHANGES,
  countries: NO_CHANGES,
  regions: NO_CHANGES,
};

/** Most rejected rows in a run. */
const REJECTS_KEPT = 50;
/** Most new regions in a run. */
const NEW_REGIONS_KEPT = 50;

/** Counts the entities of each list. */
export function countLists({ catalog }: Pick<Workspace, "catalog">): Counts {
  return {
    airports: catalog.airports.length,
    cities: catalog.cities.length,
    countries: catalog.countries.length,
    regions: catalog.regions.length,
  };
}

/** Counts the rows of the airports file with an IATA code, and the rejected ones among them. */
export function countRows({ read }: Pick<Workspace, "read">): {
  readonly seen: number;
  readonly rejected: number;
} {
  return { seen: read.seen - read.filtered, rejected: read.rejects.length };
}

/** Summarizes the upstream rows for the run. */
export function account(
  workspace: Workspace,
): Pick<Run, "accounting" | "rejects" | "rejects_total"> {
  const { read, regionRejects, city_origins, new_regions } = workspace;
  const rejects = [...read.rejects, ...regionRejects];
  const rejected_by_reason: { [reason: string]: number } = {};
  for (const { reason } of rejects)
    rejected_by_reason[reason] = (rejected_by_reason[reason] ?? 0) + 1;
  return {
    accounting: {
      filtered: read.filtered,
      unscheduled: read.unscheduled,
      rejected_by_reason,
      repaired: read.repaired,
      city_origins,
      new_regions: new_regions.slice(0, NEW_REGIONS_KEPT).map((code) => asEvidence(code)),
    },
    rejects: rejects.slice(0, REJECTS_KEPT),
    rejects_total: rejects.length,
  };
}

/** Summarizes the lists for the run. Before the first publication every entity counts as added. */
export function countEntities(workspace: Workspace, changes: ChangeCounts | null): Run["counts"] {
  const kept = countLists(workspace);
  const rows = countRows(workspace);
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
