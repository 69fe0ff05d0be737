import type { Manifest, VersionContent } from "../parts/manifest.ts";
import type { EpochMs, Instant } from "../platform/units.ts";
import type { Log } from "../platform/log.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { DatabaseCopy, TableShape, Value } from "../storage/database-copy.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { Fault } from "../schemas/backup-fault.ts";
import type { BackupManifest, Part } from "./format.ts";
import type { BackupJob } from "../schemas/backup-job.ts";
import type { SavedLedger, SavedPause } from "./state-part.ts";

/** A table, with its rows and parts in the backup so far. */
interface CopiedTable extends TableShape {
  readonly rows: number;
  readonly parts: number;
}

export interface Draft {
  readonly startedAt: Instant;
  readonly state: Part;
  readonly tables: readonly CopiedTable[];
  /** Number of tables that are copied; `afterRow` is the key of the last copied row of the next table. */
  readonly tablesDone: number;
  readonly afterRow: readonly Value[] | null;
  readonly catalog: BackupManifest["catalog"];
}

/** State of a job between two steps; JSON. Each step makes again the lists that it needs. */
export interface BackupCheckpoint {
  /** Index of the present stage in the plan. */
  readonly at: number;
  /** Number of finished units of the present stage. */
  readonly done: number;
  readonly draft: Draft | null;
}

export const FIRST_BACKUP_CHECKPOINT: BackupCheckpoint = { at: 0, done: 0, draft: null };

/** The tables of the coordinator that a backup saves and a restore replaces. */
interface CoordinatorTables {
  versions(): Manifest[];
  currentVersion(): Manifest | null;
  pause(): SavedPause | null;
  /** Removes the end of the present pause, or starts this one. */
  pauseWithoutEnd(pause: SavedPause): void;
  /** Cancels the run in progress that a pause holds. */
  cancelPausedRun(cancellation: Pick<SavedPause, "at" | "by" | "note">): void;
  /** The highest generation that was ever published; 0 if none was. */
  lastGeneration(): number;
  savedLedger(): SavedLedger | null;
  /** Records the ledger of the current version. */
  recordLedger(ledger: SavedLedger): void;
  replaceVersions(manifests: readonly Manifest[]): void;
  /** Forgets that D1 had lost rows. */
  setHistoryLost(at: null): void;
}

/** The dependencies of steps. A store throws if it fails. */
export interface StepDependencies {
  readonly backups: BackupStore;
  readonly database: DatabaseCopy;
  readonly state: CoordinatorTables;
  /** Ids of the backups that open jobs make or read. */
  readonly openBackups: () => readonly string[];
  readonly store: CatalogStore;
  /** Records a content as the version published last, above all others and this generation. */
  readonly recordVersion: (
    content: VersionContent,
    recorded: { readonly at: Instant; readonly above: number },
  ) => Manifest;
  /**
   * Replicates the current version. Throws if a store fails, or if that version is older than the
   * promised one.
   */
  readonly replicate: (promised: number) => Promise<void>;
  readonly archive: SourceArchive;
  readonly workerVersion: string | null;
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly log: Log;
}

export interface StepContext {
  readonly job: BackupJob;
  readonly checkpoint: BackupCheckpoint;
}

export type BackupStepResult =
  | {
      readonly do: "again";
      readonly checkpoint: BackupCheckpoint;
      readonly total: number;
    }
  /** The stage is finished. `apply` changes the coordinator's tables in the same transaction. */
  | {
      readonly do: "next";
      readonly checkpoint: BackupCheckpoint;
      readonly apply: () => Partial<BackupJob>;
    }
  | { readonly do: "fail"; readonly fault: Fault };

export function sameStage(checkpoint: BackupCheckpoint, total: number): BackupStepResult {
  return { do: "again", checkpoint, total };
}

export function nextStage(
  checkpoint: BackupCheckpoint,
  apply: () => Partial<BackupJob> = () => ({}),
): BackupStepResult {
  return { do: "next", checkpoint, apply };
}

/** Counts the finished units of a stage. The last of `total` ends it. */
export function countUp(
  checkpoint: BackupCheckpoint,
  more: number,
  total: number,
): BackupStepResult {
  // A count beyond the total may have skipped something, so the stage starts again.
  if (checkpoint.done > total) return sameStage({ ...checkpoint, done: 0 }, total);
  const changed = { ...checkpoint, done: checkpoint.done + more };
  return changed.done < total ? sameStage(changed, total) : nextStage(changed);
}

export function failWith(fault: Fault): BackupStepResult {
  return { do: "fail", fault };
}
