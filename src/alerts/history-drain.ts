import { describeError } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import type { AlertRun } from "./alert-run.ts";
import type { MonitorLog } from "./monitor-log.ts";
import type { MonitorState } from "./monitor-state.ts";

/** Evaluations per batch to D1, and batches per evaluation. */
const OUTBOX_BATCH = 20;
const OUTBOX_BATCHES = 10;
const SAVE_DEADLINE_MS = 10_000;
/** Interval between deletions of old rows. */
const CLEAN_EVERY_MS = 60 * 60_000;

export interface HistoryDependencies {
  readonly state: MonitorState;
  /** Saves evaluations to D1. Idempotent. Throws if D1 fails. */
  readonly saveRuns: (runs: readonly AlertRun[]) => Promise<void>;
  /** Deletes rows past their retention. Throws if D1 fails. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Sends waiting evaluations to D1. Never throws: they wait while D1 fails. */
export async function drainOutbox(deps: HistoryDependencies, log: MonitorLog): Promise<void> {
  const { state, saveRuns, deleteOldRuns, now } = deps;
  try {
    for (let batches = 0; batches < OUTBOX_BATCHES; batches++) {
      const runs = state.outbox(OUTBOX_BATCH);
      const last = runs.at(-1);
      if (last === undefined) break;
      await withDeadline("D1", SAVE_DEADLINE_MS, saveRuns(runs));
      state.transaction(() => state.trimOutbox(last.id));
    }
    const cleanedAt = state.fact("cleaned_at");
    if (cleanedAt !== null && now() - cleanedAt < CLEAN_EVERY_MS) return;
    await withDeadline("D1", SAVE_DEADLINE_MS, deleteOldRuns());
    state.transaction(() => state.setFact("cleaned_at", now()));
  } catch (cause) {
    log.line("alert_history_unreachable", describeError(cause), "warn");
  }
}
