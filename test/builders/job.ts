import type { Job } from "../../src/backup/job.ts";

/** A job that has begun to make a backup. */
export function aJob(changes: Partial<Job> = {}): Job {
  const id = "019aa3c0-0000-7000-8000-0000000000b1";
  return {
    id,
    kind: "run",
    backupId: id,
    trigger: "manual",
    note: null,
    pin: false,
    requestedBy: "ops",
    state: "queued",
    phase: null,
    progress: { done: 0, total: 0 },
    queuedAt: "2026-11-01T05:00:00.000Z",
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    verdict: null,
    wayBackId: null,
    paused: null,
    generation: null,
    error: null,
    ...changes,
  };
}
