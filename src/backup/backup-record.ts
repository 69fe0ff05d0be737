import { newRecord } from "../coordinator/job-record.ts";
import { timeText } from "../storage/time-text.ts";
import type { BackupTrigger } from "./format.ts";
import {
  BACKUP,
  type BackupJob,
  type BackupRecord,
  FIRST_CHECKPOINT,
  type JobKind,
} from "./job.ts";
import type { StepDependencies } from "./step-dependencies.ts";

export interface RunRequest {
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  readonly pin: boolean;
  readonly requested_by: string;
}

interface NewJob extends RunRequest {
  readonly kind: JobKind;
  /** The backup to verify or restore; null for a new one. */
  readonly backupId: string | null;
  readonly key: string | null;
}

/** Makes the record of a queued job. */
export function newBackupRecord(
  { newId, now }: Pick<StepDependencies, "newId" | "now">,
  { kind, backupId, key, ...request }: NewJob,
): BackupRecord {
  const id = newId();
  const job: BackupJob = {
    id,
    kind,
    backup_id: backupId ?? id,
    ...request,
    state: "queued",
    stage: null,
    progress: { done: 0, total: 0 },
    queued_at: timeText(now()),
    started_at: null,
    heartbeat_at: null,
    finished_at: null,
    duration_ms: null,
    verdict: null,
    undo_backup_id: kind === "restore" ? newId() : null,
    generation: null,
    paused: null,
    kept_for: [],
    error: null,
  };
  const leavesPause = kind === "restore";
  return newRecord({ work: BACKUP, job, key, checkpoint: FIRST_CHECKPOINT, leavesPause });
}
