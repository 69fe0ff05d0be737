import type { Log } from "../log.ts";
import { applyMigrations, type Migration } from "../storage/migrations.ts";
import { timeText } from "../storage/time.ts";
import type { CoordinatorState } from "./state.ts";

interface HistoryTables {
  readonly d1: Parameters<typeof applyMigrations>[0];
  readonly migrations: readonly Migration[];
  readonly state: Pick<CoordinatorState, "hasSavedRuns" | "setHistoryLost">;
  readonly log: Log;
  readonly now: () => number;
}

type WithTables = <T>(call: () => Promise<T>) => Promise<T>;

/** Makes the tables that D1 lacks before each call, and records when it has lost some. */
export function withHistoryTables({ d1, migrations, state, log, now }: HistoryTables): WithTables {
  return async (call) => {
    const { lost, wasEmpty } = await applyMigrations(d1, migrations);
    if (lost.length > 0 || (wasEmpty && state.hasSavedRuns())) {
      log("error", "history_tables_lost", { tables: lost });
      state.setHistoryLost(timeText(now()));
    }
    return call();
  };
}
