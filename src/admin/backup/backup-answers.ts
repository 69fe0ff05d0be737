import type { Accepted, JobResult } from "../../backup/backup-jobs.ts";
import type { Refusal } from "../http/route.ts";

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists those that there are.",
  },
};

/** The answer to a new job, or to one that exists already. */
export function accept({ disposition, job }: Accepted, location: string) {
  return {
    status: 202,
    body: { disposition, job, message: messageOf(disposition, job.id) },
    headers: { location },
    change: { target: job.backup_id, after: { disposition, job_id: job.id } },
  } as const;
}

function messageOf(disposition: Accepted["disposition"], jobId: string): string {
  const how = `GET /admin/backup/jobs/${jobId} shows its progress.`;
  switch (disposition) {
    case "started":
      return `The job starts now. ${how}`;
    case "queued":
      return `The job starts after the jobs queued before it. ${how}`;
    case "attached":
      return `The same job is already queued or running. ${how}`;
    case "unchanged":
      return "This backup is restored, and nothing has been published since: nothing changed.";
    default:
      return disposition satisfies never;
  }
}

/** After this time a busy coordinator is worth another try. */
const RETRY_SECONDS = 30;

/** Why a job is not begun. */
export function refuseJob({ reason }: Extract<JobResult, { ok: false }>): Refusal {
  if (reason === "not_found") return NO_BACKUP;
  const detail = "Too many backup jobs wait already. Try again later.";
  return {
    problem: { status: 429, code: reason, detail },
    headers: { "retry-after": String(RETRY_SECONDS) },
  };
}

const REMOVAL_DETAILS = {
  newest_verified: "This is the newest verified backup. Make and verify another one first.",
  newest: "This is the newest backup. Make another one first.",
  pinned: "This backup is pinned. Unpin it first.",
  in_use: "A job is working with this backup. Wait for its end.",
} as const;

/** Why a backup is not deleted. */
export function refuseRemoval(reason: keyof typeof REMOVAL_DETAILS): Refusal {
  return { problem: { status: 409, code: reason, detail: REMOVAL_DETAILS[reason] } };
}
