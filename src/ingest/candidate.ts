/**
 * Candidates: upstream bytes that a run has archived, for another run to work from. Pure: no clock,
 * no I/O.
 */
import { isOpen } from "../jobs/job-record.ts";
import type { Run, UpstreamFiles } from "./run.ts";

/** The archived files of a run, which another run is to build from. */
export interface ArchivedCandidate {
  readonly runId: string;
  readonly upstream: UpstreamFiles;
}

/** Runs that guards refused whose upstream files are kept, so that they can be approved. */
export const REFUSED_KEPT = 5;

/** The candidate that a run was asked to work from; null if it asks upstream. */
export function candidateOf({ candidate_of: runId, upstream }: Run): ArchivedCandidate | null {
  return runId === null ? null : { runId, upstream };
}

/**
 * The archived files that are still a candidate: those of runs that have not ended, and those of the
 * newest runs that guards refused.
 *
 * @param runs newest first.
 */
export function candidateFiles(runs: readonly Run[]): UpstreamFiles[] {
  const open = runs.filter(({ state }) => isOpen(state));
  const refused = runs.filter(isRefused).slice(0, REFUSED_KEPT);
  return [...open, ...refused].map(({ upstream }) => upstream);
}

/** Whether guards have refused what the run had built. */
function isRefused({ state, error }: Run): boolean {
  return state === "failed" && error?.stage === "guard" && error.code.startsWith("guard");
}
