import type { JobRequest, JobResult, RemoveResult } from "../../backup/backup-jobs.ts";
import type { RunRequest } from "../../backup/backup-record.ts";
import type { BackupJob } from "../../backup/job.ts";
import type { BackupStore } from "../../storage/backup-store.ts";

/** What the routes need of the coordinator for backups. Each rejects with CoordinatorUnavailable. */
export interface BackupJobCalls {
  backUp(request: RunRequest): Promise<JobResult>;
  verifyBackup(id: string, request: JobRequest): Promise<JobResult>;
  restoreBackup(id: string, request: JobRequest): Promise<JobResult>;
  removeBackup(id: string): Promise<RemoveResult>;
  findJob(id: string): Promise<BackupJob | null>;
  /** The newest first. */
  jobs(limit?: number): Promise<readonly BackupJob[]>;
}

/** What the routes of backups work with. */
export interface BackupAccess {
  readonly jobs: BackupJobCalls;
  readonly store: BackupStore;
  /** Age from which on the newest backup is stale. */
  readonly staleAfterMs: number;
}
