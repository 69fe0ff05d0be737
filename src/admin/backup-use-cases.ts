import type { JobResult, RunRequest } from "../backup/coordinator.ts";
import type { Job } from "../backup/job.ts";
import type { RemoveResult } from "../backup/remove-backup.ts";
import type { ManifestUpload, UploadResult } from "../backup/upload.ts";
import type { BackupStore } from "../storage/backup-store.ts";

/** What the routes need of the backup coordinator. Each rejects with CoordinatorUnavailable. */
export interface BackupJobCalls {
  run(request: RunRequest): Promise<JobResult>;
  verify(id: string, requestedBy: string): Promise<JobResult>;
  restore(id: string, requestedBy: string): Promise<JobResult>;
  remove(id: string): Promise<RemoveResult>;
  acceptManifest(upload: ManifestUpload): Promise<UploadResult>;
  findJob(id: string): Promise<Job | null>;
  /** The newest first. */
  jobs(limit: number): Promise<readonly Job[]>;
}

/** What the routes of backups work with. */
export interface BackupAccess {
  readonly jobs: BackupJobCalls;
  readonly store: BackupStore;
  /** Age from which on the newest backup is stale. */
  readonly staleAfterMs: number;
}
