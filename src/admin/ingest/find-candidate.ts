import type { ArchivedCandidate } from "../../ingest/candidate.ts";
import { findRun, type RunSources } from "./find-run.ts";
import type { Refusal } from "../http/route.ts";

interface FoundCandidate {
  readonly candidate: ArchivedCandidate | null;
  readonly source: string | null;
}

/**
 * Finds the archived upstream files of a run, so that a new run can work from them; none if `runId` is
 * undefined. Refuses a run that does not exist, that fetched nothing, or that had another source.
 *
 * @throws StoreUnavailable or CoordinatorUnavailable, as `findRun` does.
 */
export async function findCandidate(
  runs: RunSources,
  asked: { readonly runId: string | undefined; readonly source: string | undefined },
): Promise<FoundCandidate | Refusal> {
  const { runId } = asked;
  if (runId === undefined) return { candidate: null, source: asked.source ?? null };
  const run = await findRun(runs, runId);
  if (run === null) {
    const detail = "candidate_of: there is no run with this id.";
    return { problem: { status: 404, code: "run_not_found", detail } };
  }
  const { source, upstream } = run;
  if (asked.source !== undefined && asked.source !== source) {
    const detail = `source: run ${runId} is of "${source}"; leave it out, or name the same`;
    return { problem: { status: 400, code: "invalid_body", detail } };
  }
  if (Object.keys(upstream).length === 0) {
    const detail = `Run ${runId} fetched nothing that another run could work from.`;
    return { problem: { status: 409, code: "nothing_fetched", detail } };
  }
  return { candidate: { runId, upstream }, source };
}
