import type { BackupRecord } from "../../src/coordinator/backup-jobs.ts";
import { BACKUP, type BackupJob } from "../../src/schemas/backup-job.ts";
import { FIRST_BACKUP_CHECKPOINT } from "../../src/backup/step.ts";
import { newRecord } from "../../src/coordinator/jobs.ts";

/** A job that has started to make a backup. */
function aJob(changes: Partial<BackupJob> = {}): BackupJob {
  const id = "019aa3c0-0000-7000-8000-0000000000b1";
  return {
    id,
    kind: "run",
    backup_id: id,
    chain: [id],
    trigger: "manual",
    note: null,
    pin: false,
    requested_by: "ops",
    state: "queued",
    stage: null,
    progress: { done: 0, total: 0 },
    queued_at: "2026-11-01T05:00:00.000Z",
    started_at: null,
    heartbeat_at: null,
    finished_at: null,
    duration_ms: null,
    verdict: null,
    paused: null,
    generation: null,
    kept_for: [],
    error: null,
    ...changes,
  };
}

/** A job that waits. */
export function aBackupRecord(changes: Partial<BackupJob> = {}): BackupRecord {
  const job = aJob(changes);
  return newRecord({ work: BACKUP, job, checkpoint: FIRST_BACKUP_CHECKPOINT });
}
