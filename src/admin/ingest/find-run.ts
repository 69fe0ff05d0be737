import { type Run } from "../../ingest/run.ts";
import { isOpen } from "../../jobs/job-record.ts";
import type { History } from "../../ingest/history.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { CoordinatorUnavailable, orNull, soon } from "../calls/coordinator-calls.ts";
import { idOf } from "../../catalog/fields.ts";
import { askHistory } from "../calls/store-calls.ts";

/** Id of a run. */
export const runId = idOf("a run", "/admin/ingest/runs");

/** The header that names a queued run. */
export const OF_RUN = { Location: "The path of the run, if there is one." };

/** The path of a run. */
export function runPath({ id }: { readonly id: string }): string {
  return `/admin/ingest/runs/${id}`;
}

/** Where a run is looked for. */
export interface RunSources {
  readonly ingest: Pick<CoordinatorUseCases, "findRun">;
  readonly history: Pick<History, "findRun">;
}

/**
 * Finds a run in the coordinator, or in D1 where the coordinator has forgotten it or does not answer
 * soon: an ended run never changes. Null if neither has it.
 *
 * @throws StoreUnavailable
 * @throws CoordinatorUnavailable if the coordinator does not answer and D1 has no ended run.
 */
export async function findRun({ ingest, history }: RunSources, id: string): Promise<Run | null> {
  const asked = orNull(ingest.findRun(id).then((run) => ({ run })));
  const early = await orNull(soon(asked));
  if (early?.run) return early.run;
  const stored = await askHistory(history.findRun(id));
  if (stored !== null && !isOpen(stored.state)) return stored;
  const current = early ?? (await asked);
  if (current === null)
    throw new CoordinatorUnavailable("the coordinator does not answer, and D1 has no ended run");
  return current.run ?? stored;
}
