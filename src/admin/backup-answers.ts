import type { Accepted, JobResult } from "../backup/coordinator.ts";
import type { RemoveResult } from "../backup/remove-backup.ts";
import type { Refusal } from "./route.ts";
import { snakeKeys } from "./snake-keys.ts";

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists those that there are.",
  },
};

/** The answer to a job that has begun, waits, or was under way already. */
export function accept({ disposition, job }: Accepted, location: string) {
  return {
    status: 202,
    body: { disposition, job: snakeKeys(job), message: messageOf(disposition, job.id) },
    headers: { location },
    change: { target: job.backupId, after: { disposition, job_id: job.id } },
  } as const;
}

function messageOf(disposition: Accepted["disposition"], jobId: string): string {
  const how = `GET /admin/backup/jobs/${jobId} tells how far it is.`;
  switch (disposition) {
    case "started":
      return `It is under way. ${how}`;
    case "queued":
      return `It begins when the job before it has ended. ${how}`;
    case "attached":
      return `The same is under way already. ${how}`;
    default:
      return disposition satisfies never;
  }
}

/** After this time a busy coordinator is worth another try. */
const RETRY_SECONDS = 30;

/** Why a job is not begun. */
export function refuseJob(result: Extract<JobResult, { ok: false }>): Refusal {
  const headers = { "retry-after": String(RETRY_SECONDS) };
  switch (result.reason) {
    case "not_found":
      return NO_BACKUP;
    case "busy": {
      const { kind, id } = result.job;
      const detail = `A restore wants to be alone, and the ${kind} ${id} is under way. Try again when it has ended.`;
      return { problem: { status: 409, code: "busy", detail }, headers };
    }
    case "run_active": {
      const detail = `The ingest run ${result.runId} is under way. Wait for its end or cancel it, and pause ingestion so that none begins.`;
      return { problem: { status: 409, code: "run_active", detail }, headers };
    }
    case "queue_full": {
      const detail = "Too many jobs about backups wait already. Try again later.";
      return { problem: { status: 429, code: "queue_full", detail }, headers };
    }
    default:
      return result satisfies never;
  }
}

const REMOVAL_DETAILS = {
  newest_verified: "This is the newest backup that proved good. Make and verify another one first.",
  newest: "This is the newest backup. Make another one first.",
  pinned: "This backup is pinned. Unpin it first.",
  in_use: "A job is working with this backup. Wait for its end.",
} as const;

/** Why a backup is not deleted. */
export function refuseRemoval(reason: Extract<RemoveResult, { ok: false }>["reason"]): Refusal {
  if (reason === "not_found") return NO_BACKUP;
  return { problem: { status: 409, code: reason, detail: REMOVAL_DETAILS[reason] } };
}
