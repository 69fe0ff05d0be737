import { type Run } from "../../ingest/run.ts";
import { isOpen } from "../../jobs/job-record.ts";
import type { History } from "../../ingest/history.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { CoordinatorUnavailable, orNull } from "../calls/coordinator-calls.ts";
import { askHistory } from "../calls/store-calls.ts";

/** What a request with another id is told. */
export const NO_RUN_ID = "must be the id of a run, as GET /admin/ingest/runs lists them";

/** Where a run is looked for. */
export interface RunSources {
  readonly ingest: Pick<CoordinatorUseCases, "findRun">;
  readonly history: Pick<History, "findRun">;
}

/**
 * A run from the coordinator, who is up to date; else from D1, where what has ended never changes.
 * Null if neither knows of it.
 *
 * @throws StoreUnavailable
 * @throws CoordinatorUnavailable where D1 may show the run as it was.
 */
export async function findRun({ ingest, history }: RunSources, id: string): Promise<Run | null> {
  const current = await orNull(ingest.findRun(id).then((run) => ({ run })));
  if (current?.run) return current.run;
  const run = await askHistory(history.findRun(id));
  const isOld = run !== null && !isOpen(run.state);
  if (current === null && !isOld)
    throw new CoordinatorUnavailable("the coordinator knows of the run, and does not answer");
  return run;
}
