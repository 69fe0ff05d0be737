import type { EnqueueRequest } from "../../coordinator/run-queue.ts";
import type { Run } from "../../coordinator/run.ts";
import { isOpen } from "../../coordinator/job-record.ts";
import type { History } from "../../coordinator/history.ts";
import type { CoordinatorCalls } from "../calls/object-calls.ts";
import { ask, orNull, soon, Unavailable } from "../calls/unavailable.ts";
import { idOf } from "../../catalog/fields.ts";

/** Id of a run. */
export const runId = idOf("a run", "/admin/ingest/runs");

/** The header that names a queued run. */
export const OF_RUN = { Location: "The path of the run, if there is one." };

/** The path of a run. */
export function runPath({ id }: { readonly id: string }): string {
  return `/admin/ingest/runs/${id}`;
}

/** A run of the configured source, which waits while ingestion is paused. */
export function plainRun(
  asked: Pick<EnqueueRequest, "trigger" | "requested_by" | "note">,
): EnqueueRequest {
  const usual = { mode: "incremental", source: null, candidate: null, forced: false } as const;
  return { ...asked, ...usual, ifPaused: "queue" };
}

/** Where a run is looked for. */
export interface RunSources {
  readonly ingest: Pick<CoordinatorCalls, "findRun">;
  readonly history: Pick<History, "findRun">;
}

/**
 * Finds a run in the coordinator, or in D1 where the coordinator has forgotten it or does not answer
 * soon: an ended run never changes. Null if neither has it. Rejects with Unavailable if D1 does not
 * answer, or the coordinator does not and D1 has no ended run.
 */
export async function findRun({ ingest, history }: RunSources, id: string): Promise<Run | null> {
  const asked = orNull(ingest.findRun(id).then((run) => ({ run })));
  const early = await orNull(soon(asked));
  if (early?.run) return early.run;
  const stored = await ask("history", history.findRun(id));
  if (stored !== null && !isOpen(stored.state)) return stored;
  const current = early ?? (await asked);
  if (current === null) throw new Unavailable("coordinator");
  return current.run ?? stored;
}
