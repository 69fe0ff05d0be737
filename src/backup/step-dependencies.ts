import type { CoordinatorStatus } from "../ingest/coordinator-status.ts";
import type { HoldRequest, HoldResult } from "../ingest/hold.ts";
import type { ImportRequest, ImportResult, SnapshotPage } from "../ingest/state-transfer.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { DatabaseCopy } from "../storage/database-copy.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { Turns } from "./turns.ts";

/** The ingest coordinator, as backups need it. */
export interface IngestLink {
  hold(request: HoldRequest): Promise<HoldResult>;
  release(by: string): Promise<void>;
  takeSnapshot(by: string): Promise<boolean>;
  readSnapshot(from: number): Promise<SnapshotPage>;
  forgetTransfer(): Promise<void>;
  stageState(from: number, lines: readonly string[]): Promise<void>;
  replaceState(by: string, request: ImportRequest): Promise<ImportResult>;
  noteBlobs(sha256s: readonly string[]): Promise<void>;
  status(): Promise<Pick<CoordinatorStatus, "replicated" | "running">>;
}

/** What the steps of jobs work with. All of it throws where a store refuses. */
export interface StepDependencies {
  /** What deletes backups and objects takes turns with what lets an uploaded backup exist. */
  readonly turns: Turns;
  readonly backups: BackupStore;
  readonly database: DatabaseCopy;
  readonly ingest: IngestLink;
  readonly catalog: CatalogStore;
  readonly archive: SourceArchive;
  readonly snapshot: Snapshot;
  readonly workerVersion: string | null;
  readonly now: () => number;
}
