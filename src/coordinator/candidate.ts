/** Candidates: a run's archived files that another run builds from. Pure: no clock, no I/O. */
import { isOpen } from "./job-record.ts";
import type { Run, UpstreamFiles } from "./run.ts";

/** The archived files of the run `runId`. */
export interface ArchivedCandidate {
  readonly runId: string;
  readonly upstream: UpstreamFiles;
}

/** Number of refused runs whose upstream files stay archived, so that people can approve them. */
export const REFUSED_KEPT = 5;

/** Returns the candidate that a run builds from; null if it fetches from upstream. */
export function candidateOf({ candidate_of: runId, upstream }: Run): ArchivedCandidate | null {
  return runId === null ? null : { runId, upstream };
}

/**
 * Lists the archived files that are still candidates: those of unfinished runs and of the newest
 * refused runs.
 *
 * @param runs newest first.
 */
export function candidateFiles(runs: readonly Run[]): UpstreamFiles[] {
  const open = runs.filter(({ state }) => isOpen(state));
  const refused = runs.filter(isRefused).slice(0, REFUSED_KEPT);
  return [...open, ...refused].map(({ upstream }) => upstream);
}

/** Whether guards have refused the candidate of a run. */
function isRefused({ state, error }: Run): boolean {
  return state === "failed" && error?.stage === "guard" && error.code.startsWith("guard");
}
