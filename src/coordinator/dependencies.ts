import type { Log } from "../log.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { CoordinatorState } from "../ingest/coordinator-state.ts";
import type { HistoryRow } from "../ingest/history.ts";
import type { Pipeline } from "../ingest/pipeline.ts";

/** What the coordinator works with. */
export interface CoordinatorDependencies {
  readonly state: CoordinatorState;
  readonly pipeline: Pipeline;
  readonly store: CatalogStore;
  readonly archive: SourceArchive;
  /** Writes rows to D1, any number of times. Throws if D1 refuses. */
  readonly saveRuns: (rows: readonly HistoryRow[]) => Promise<void>;
  /** Ends the rows of D1 that are open and not of these runs; how many. Throws if D1 refuses. */
  readonly endLostRuns: (open: readonly string[]) => Promise<number>;
  /** Writes audit entries to D1, any number of times. Throws if D1 refuses. */
  readonly saveAudit: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Deletes history that is past its retention. Throws if D1 refuses. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** How long one of these four may take before D1 counts as out of reach. */
  readonly historyDeadlineMs: number;
  /** Replaces the one alarm; null takes it away. */
  readonly setAlarm: (at: number | null) => Promise<void>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** Name of the configured upstream. */
  readonly source: string;
  readonly workerVersion: string | null;
}
