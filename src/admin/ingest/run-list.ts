import type { ListedRun } from "../../coordinator/run.ts";
import { decodeCursor, encodeCursor } from "../../storage/page.ts";
import {
  FILTERED,
  type History,
  type RunFilter,
  type RunQuery,
} from "../../coordinator/history.ts";

type RunListResult =
  | {
      readonly ok: true;
      /** Newest first. */
      readonly runs: readonly ListedRun[];
      readonly nextCursor: string | null;
      /** Runs that match the filter, on all pages. */
      readonly total: number;
    }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/**
 * Lists a page of D1's run history with the coordinator's newer state of runs that D1 lacks or shows
 * in an older one. Read `unsettled` first: a run that reaches D1 in between would otherwise be missed.
 */
export async function listRuns(
  history: Pick<History, "listRuns" | "matching">,
  query: RunQuery,
  unsettled: readonly ListedRun[],
): Promise<RunListResult> {
  const { limit, cursor, ...filter } = query;
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  if (after?.ok === false) return after;
  const ids = unsettled.map(({ id }) => id);
  const [page, replaced] = await Promise.all([
    history.listRuns(query),
    history.matching(ids, filter),
  ]);
  if (!page.ok) return page;
  const matching = unsettled.filter((run) => matches(run, filter));
  const end = page.nextCursor === null ? undefined : page.runs.at(-1)?.id;
  const here = matching.filter(
    ({ id }) => (after === undefined || id < after.id) && (end === undefined || id >= end),
  );
  const settled = page.runs.filter(({ id }) => !ids.includes(id));
  const merged = [...here, ...settled].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const runs = merged.slice(0, limit);
  const last = merged.length > limit ? runs.at(-1)?.id : end;
  return {
    ok: true,
    runs,
    nextCursor: last === undefined ? null : encodeCursor(last),
    total: page.total - replaced.size + matching.length,
  };
}

function matches(run: ListedRun, { sinceMs, untilMs, ...wanted }: RunFilter): boolean {
  const queuedAt = Date.parse(run.queued_at);
  return (
    FILTERED.every((field) => wanted[field] === undefined || run[field] === wanted[field]) &&
    (sinceMs === undefined || queuedAt >= sinceMs) &&
    (untilMs === undefined || queuedAt < untilMs)
  );
}
