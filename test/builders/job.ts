import type { Job } from "../../src/backup/job.ts";

/** A job that has begun to make a backup. */
export function aJob(changes: Partial<Job> = {}): Job {
  const id = "019aa3c0-0000-7000-8000-0000000000b1";
  return {
    id,
    kind: "run",
    backup_id: id,
    trigger: "manual",
    note: null,
    pin: false,
    requested_by: "ops",
    state: "queued",
    phase: null,
    progress: { done: 0, total: 0 },
    queued_at: "2026-11-01T05:00:00.000Z",
    started_at: null,
    finished_at: null,
    duration_ms: null,
    verdict: null,
    undo_backup_id: null,
    paused: null,
    generation: null,
    error: null,
    ...changes,
  };
}
