/** The words of runs, apart from their schemas, which the pages do not load. */

export const SOURCE_NAMES = ["embedded", "ourairports", "dropped"] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/**
 * `incremental` fetches and stores only the changes, `full` fetches and stores everything again,
 * `dry_run` ends after the guards.
 */
export const RUN_MODES = ["incremental", "full", "dry_run"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** In order. `verify` replicates. */
export const STAGES = ["fetch", "parse", "build", "guard", "encode", "publish", "verify"] as const;
export type Stage = (typeof STAGES)[number];

/** Whether a pause holds a run in progress. A run that has recorded its version still publishes it. */
export function isHalted(
  run: { readonly state: string; readonly generation_after: number | null },
  isPaused: boolean,
): boolean {
  return isPaused && run.state === "running" && run.generation_after === null;
}
