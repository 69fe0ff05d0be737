import type { LocaleSettings } from "../catalog/locale-settings.ts";
import type { Log } from "../platform/log.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { DatabaseCopy } from "../storage/database-copy.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { CoordinatorState } from "./state.ts";
import type { HistoryRow } from "../storage/run-history.ts";
import type { Pipeline } from "../ingest/pipeline.ts";

/** The coordinator's dependencies: its tables, the stores, D1 and the clock. */
export interface CoordinatorPlatform {
  readonly state: CoordinatorState;
  readonly pipeline: Pipeline;
  readonly store: CatalogStore;
  readonly archive: SourceArchive;
  readonly backups: BackupStore;
  /** Copies the tables of D1 for a backup. */
  readonly database: DatabaseCopy;
  /** Saves rows in D1. Idempotent. Throws if D1 fails. */
  readonly saveRuns: (rows: readonly HistoryRow[]) => Promise<void>;
  /** Ends unfinished rows that are not in `open`. Returns their number. Throws if D1 fails. */
  readonly endLostRuns: (open: readonly string[]) => Promise<number>;
  /** Returns which of these runs have no row in D1. Throws if D1 fails. */
  readonly findMissingRuns: (ids: readonly string[]) => Promise<readonly string[]>;
  /** Saves audit entries in D1. Idempotent. Throws if D1 fails. */
  readonly saveAudit: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Deletes history past its retention. Throws if D1 fails. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** Deadline of each of these five calls. */
  readonly historyDeadlineMs: DurationMs;
  /** Replaces the alarm; null deletes it. */
  readonly setAlarm: (at: EpochMs | null) => Promise<void>;
  /** Ends this instance, as in a crash. */
  readonly restart: () => void;
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly log: Log;
  /** The settings of the pipeline, and the locale of a request that names none. */
  readonly localeSettings: LocaleSettings;
  /** The problems of the settings, which prevent runs; null if they are valid. */
  readonly settingsProblem: string | null;
  readonly source: string;
  readonly workerVersion: string | null;
}
