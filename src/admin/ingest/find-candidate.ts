import type { ArchivedCandidate } from "../../ingest/candidate.ts";
import { findRun, type RunSources } from "./find-run.ts";
import type { Refusal } from "../http/route.ts";

/** What a run is to work from. */
export interface FoundCandidate {
  readonly candidate: ArchivedCandidate | null;
  readonly source: string | null;
}

/**
 * The archived upstream files of a run, for another to work from; none where no run is named.
 * Refused where there is no such run, where it has fetched nothing, and where the caller names
 * another source than it had.
 *
 * @param runs where the run is looked for; what that throws is thrown.
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
    const detail = `source: run ${runId} is of "${source}"; leave it out, or say the same`;
    return { problem: { status: 400, code: "invalid_body", detail } };
  }
  if (Object.keys(upstream).length === 0) {
    const detail = `Run ${runId} has fetched nothing that another run could work from.`;
    return { problem: { status: 409, code: "nothing_fetched", detail } };
  }
  return { candidate: { runId, upstream }, source };
}
