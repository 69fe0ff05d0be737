import type { ListedRun, Run } from "../../schemas/run.ts";
import { isOpen } from "../../coordinator/jobs.ts";
import {
  FILTERED,
  type History,
  type RunFilter,
  type RunQuery,
} from "../../storage/run-history.ts";
import { nullIfUnavailable, orUnavailable, Unavailable, soonOrNull } from "../calls.ts";
import { idOf } from "../../schemas/fields.ts";
import { decodeCursor, encodeCursor } from "../../storage/page.ts";
import type { AdminPlatform } from "../admin-platform.ts";

export const runId = idOf("a run", "/admin/ingest/runs");

export const OF_RUN = { Location: "The path of the run, if there is one." };

export function runPath({ id }: { readonly id: string }): string {
  return `/admin/ingest/runs/${id}`;
}

/**
 * Finds a run in the coordinator, or in D1 where the coordinator has forgotten it or does not answer
 * soon: an ended run never changes. Null if neither has it. Rejects with Unavailable if D1 does not
 * answer, or the coordinator does not and D1 has no ended run.
 */
export async function findRun(
  { coordinator, history }: Pick<AdminPlatform, "coordinator" | "history">,
  id: string,
): Promise<Run | null> {
  const answer = nullIfUnavailable(coordinator.findRun(id).then((run) => ({ run })));
  const early = await soonOrNull(answer);
  if (early?.run) return early.run;
  const stored = await orUnavailable("history", history.findRun(id));
  if (stored !== null && !isOpen(stored.state)) return stored;
  const current = early ?? (await answer);
  if (current === null) throw new Unavailable("coordinator");
  return current.run ?? stored;
}

type RunListResult =
  | {
      readonly ok: true;
      /** Newest first. */
      readonly runs: readonly ListedRun[];
      readonly nextCursor: string | null;
      readonly total: number;
    }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/**
 * Lists a page of D1's run history with the coordinator's newer state of runs that D1 lacks or shows
 * in an older one. Read `unwritten` first: a run that reaches D1 in between would otherwise be missed.
 */
export async function listRuns(
  history: Pick<History, "listRuns">,
  query: RunQuery,
  unwritten: readonly ListedRun[],
): Promise<RunListResult> {
  const { limit, cursor, ...filter } = query;
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  if (after?.ok === false) return after;
  const ids = unwritten.map(({ id }) => id);
  const page = await history.listRuns(query, ids);
  if (!page.ok) return page;
  const matching = unwritten.filter((run) => matchesRun(run, filter));
  const end = page.nextCursor === null ? undefined : page.runs.at(-1)?.id;
  const here = matching.filter(
    ({ id }) => (after === undefined || id < after.id) && (end === undefined || id >= end),
  );
  const merged = [...here, ...page.runs].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const runs = merged.slice(0, limit);
  const last = merged.length > limit ? runs.at(-1)?.id : end;
  return {
    ok: true,
    runs,
    nextCursor: last === undefined ? null : encodeCursor(last),
    total: page.total + matching.length,
  };
}

function matchesRun(run: ListedRun, { sinceMs, untilMs, ...wanted }: RunFilter): boolean {
  const queuedAt = Date.parse(run.queued_at);
  return (
    FILTERED.every((field) => wanted[field] === undefined || run[field] === wanted[field]) &&
    (sinceMs === undefined || queuedAt >= sinceMs) &&
    (untilMs === undefined || queuedAt < untilMs)
  );
}
