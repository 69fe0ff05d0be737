import { FIRST_CHECKPOINT } from "./pipeline.ts";
import type { RunRecord } from "./coordinator-state.ts";
import type { Run, RunMode, RunTrigger } from "./run.ts";

/** What a caller asks for. */
export interface EnqueueRequest {
  readonly trigger: RunTrigger;
  readonly mode: RunMode;
  readonly requestedBy: string;
  readonly note: string | null;
}

/** What will happen to the request: the truth, also when the run is an earlier one. */
export interface EnqueueAnswer {
  readonly disposition: "queued" | "queued_behind_running" | "coalesced";
  /** `now`, or after the run of this id. */
  readonly willStart: "now" | `after_run:${string}`;
  readonly run: Run;
}

/** A run that waits for its turn. */
export function newRun(id: string, source: string, at: string, request: EnqueueRequest): RunRecord {
  const run: Run = {
    id,
    state: "queued",
    outcome: null,
    trigger: request.trigger,
    mode: request.mode,
    source,
    requestedBy: request.requestedBy,
    note: request.note,
    retries: 0,
    queuedAt: at,
    startedAt: null,
    heartbeatAt: null,
    finishedAt: null,
    stage: null,
    progress: { done: 0, total: 0 },
    sources: {},
    accounting: null,
    generationBefore: null,
    generationAfter: null,
    catalogSha256: null,
    error: null,
  };
  return { run, checkpoint: FIRST_CHECKPOINT, fence: 0, attempts: 0 };
}

/**
 * Decides what an enqueue comes to. A run that waits already with the same mode and source is the
 * answer itself: two callers who race make one run and both get it.
 *
 * @param waiting the runs that wait, oldest first.
 */
export function decideEnqueue(
  wanted: RunRecord,
  waiting: readonly RunRecord[],
  running: RunRecord | undefined,
): { readonly answer: EnqueueAnswer; readonly add: RunRecord | null } {
  const same = waiting.findIndex(({ run }) => isSame(run, wanted.run));
  const found = waiting[same];
  const ahead = (found === undefined ? waiting.at(-1) : waiting[same - 1]) ?? running;
  const willStart = ahead === undefined ? "now" : (`after_run:${ahead.run.id}` as const);
  if (found !== undefined)
    return { answer: { disposition: "coalesced", willStart, run: found.run }, add: null };
  const disposition = ahead === undefined ? "queued" : "queued_behind_running";
  return { answer: { disposition, willStart, run: wanted.run }, add: wanted };
}

function isSame(a: Run, b: Run): boolean {
  return a.mode === b.mode && a.source === b.source;
}

/** Attempts at one step before a run fails. */
export const MAX_STEP_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

/** How long to wait before the next attempt at a step, after `attempts` have failed. */
export function backoffMs(attempts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), MAX_BACKOFF_MS);
}
