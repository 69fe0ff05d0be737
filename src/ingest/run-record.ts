/** What the coordinator keeps of a run. Pure: no clock, no I/O. */
import { type Checkpoint, FIRST_CHECKPOINT } from "./checkpoint.ts";
import type { Run, RunState } from "./run.ts";

/** A run with what only the coordinator knows of it. Times are milliseconds since 1970. */
export interface RunRecord {
  readonly run: Run;
  readonly checkpoint: Checkpoint;
  /** When the present stage began; null before the first. */
  readonly stageSince: number | null;
  /** Rises with each claim of a step; a step commits only under the fence that it was given. */
  readonly fence: number;
  /** Attempts at the present step. */
  readonly attempts: number;
  /** Until when the present step is claimed; null between two steps. */
  readonly leaseUntil: number | null;
  /** When the present step may be tried again; null for at once. */
  readonly notBefore: number | null;
  readonly cancelRequestedBy: string | null;
}

/** What runs lack that a Worker has saved which did not know of it yet. */
const LATER_FIELDS = { candidate_of: null, changes: null } satisfies Partial<Run>;

/** A run as it was saved, as JSON. */
export function parseRun(text: string): Run {
  return { ...LATER_FIELDS, ...JSON.parse(text) };
}

/** What was saved of a run, as JSON. */
export function parseRecord(text: string): RunRecord {
  const record: RunRecord = JSON.parse(text);
  return { ...record, run: { ...LATER_FIELDS, ...record.run } };
}

/** A run that is over. `finished_at` is RFC 3339. */
export function endedRecord(
  record: RunRecord,
  end: { readonly state: RunState; readonly finished_at: string; readonly patch?: Partial<Run> },
): RunRecord {
  const { state, finished_at, patch } = end;
  const duration_ms = Date.parse(finished_at) - Date.parse(record.run.started_at ?? finished_at);
  const run: Run = { ...record.run, ...patch, state, finished_at, duration_ms };
  return { ...record, run, checkpoint: FIRST_CHECKPOINT, leaseUntil: null, notBefore: null };
}
