import type { CoordinatorState } from "../ingest/coordinator-state.ts";
import type { Log } from "../log.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { DatabaseCopy } from "../storage/database-copy.ts";
import type { SourceArchive } from "../storage/source-archive.ts";

/** The dependencies of steps. A store throws if it fails. */
export interface StepDependencies {
  readonly backups: BackupStore;
  readonly database: DatabaseCopy;
  readonly coordinator: CoordinatorState;
  readonly catalog: CatalogStore;
  readonly archive: SourceArchive;
  readonly snapshot: Snapshot;
  readonly workerVersion: string | null;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
}
