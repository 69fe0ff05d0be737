import type { LogLevel } from "../log.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { CoordinatorState, OutboxRow } from "./coordinator-state.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Run } from "./run.ts";

/** What the coordinator works with. */
export interface CoordinatorDependencies {
  readonly state: CoordinatorState;
  readonly pipeline: Pipeline;
  readonly store: CatalogStore;
  readonly archive: SourceArchive;
  /** Writes rows to D1, any number of times. Throws if D1 refuses. */
  readonly saveRuns: (rows: readonly OutboxRow[]) => Promise<void>;
  /** Writes audit entries to D1, any number of times. Throws if D1 refuses. */
  readonly saveAudit: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Deletes history that is past its retention. Throws if D1 refuses. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** How long one of these three may take before D1 counts as out of reach. */
  readonly historyDeadlineMs: number;
  /** Makes a backup before a forced run publishes, or says how far the one for this run is. */
  readonly backUpFirst: (runId: string) => Promise<BackupFirst>;
  /** Replaces the one alarm; null takes it away. */
  readonly setAlarm: (at: number | null) => Promise<void>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: (
    level: LogLevel,
    event: string,
    fields: { readonly [name: string]: unknown },
  ) => void;
  /**
   * Is told of each run that had begun and has ended, with a step or by a cancel between two; not
   * of one that was cancelled in the queue, nor of one that a restore ended. Returns at once and
   * never throws.
   */
  readonly runEnded: (run: Run) => void;
  /** Name of the configured upstream. */
  readonly source: string;
  readonly workerVersion: string | null;
}

/** How far the backup is that a forced run waits for. */
export type BackupFirst =
  { readonly state: "done" | "under_way" } | { readonly state: "failed"; readonly message: string };
