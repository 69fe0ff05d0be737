import type { Log } from "../platform/log.ts";
import { withDeadline } from "../platform/deadline.ts";
import { applyMigrations, isTableMissing, type Migration } from "../storage/migrations.ts";
import { timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { CoordinatorState } from "./state.ts";

interface Dependencies {
  readonly d1: Parameters<typeof applyMigrations>[0];
  readonly migrations: readonly Migration[];
  readonly state: Pick<CoordinatorState, "hasSavedRuns" | "setHistoryLost">;
  readonly deadlineMs: DurationMs;
  readonly log: Log;
  readonly now: () => EpochMs;
}

export type HistoryTables = ReturnType<typeof createHistoryTables>;

export function createHistoryTables(deps: Dependencies) {
  const { d1, migrations, state, deadlineMs, log, now } = deps;
  let making: Promise<void> | null = null;

  const apply = async () => {
    const { lost, wasEmpty } = await applyMigrations(d1, migrations);
    if (lost.length === 0 && !(wasEmpty && state.hasSavedRuns())) return;
    log("error", "history_tables_lost", { tables: lost });
    state.setHistoryLost(timeText(now()));
  };

  /** Makes the tables that D1 lacks, and records the time of a loss. Throws if D1 fails. */
  const make = () => {
    making ??= withDeadline("D1", deadlineMs, apply()).finally(() => void (making = null));
    return making;
  };

  return {
    make,

    /** Calls D1, and if a table is lost, again after making it. */
    async within<T>(call: () => Promise<T>): Promise<T> {
      try {
        return await call();
      } catch (cause) {
        if (!isTableMissing(cause)) throw cause;
        await make();
        return call();
      }
    },
  };
}
