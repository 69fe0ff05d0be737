import type { z } from "zod";
import type { Accepted, JobRequest, JobResult } from "../../backup/backup-jobs.ts";
import type { BackupJob } from "../../backup/job.ts";
import { isOpen } from "../../jobs/job-record.ts";
import type { Actor } from "../http/http.ts";
import type { Refusal } from "../http/route.ts";

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists the backups that exist.",
  },
};

/** What beginning a job may be answered. */
export function acceptances<Body extends z.ZodType>(named: string, body: Body) {
  const headers = { Location: `The path of ${named}.` };
  return {
    200: { description: "The job that does or did the same", headers, body },
    202: { description: "The job is queued", headers, body },
  } as const;
}

export function jobRequest(
  actor: Actor,
  { note }: { readonly note?: string | undefined },
): JobRequest {
  return { requested_by: actor.id, note: note ?? null };
}

/** The answer to a new job, or to one that does or did the same. */
export function accept({ changed, job }: Accepted, location: string) {
  return {
    status: changed ? 202 : 200,
    body: { changed, job, message: messageOf(changed, job) },
    headers: { location },
    change: { target: job.backup_id, after: { changed, job_id: job.id } },
  } as const;
}

function messageOf(changed: boolean, { id, state }: BackupJob): string {
  const how = `GET /admin/backup/jobs/${id} shows its progress.`;
  if (changed) return `The job is queued. ${how}`;
  if (isOpen(state)) return `The same job is already ${state}. ${how}`;
  return "This backup is restored, and nothing has been published since: nothing changed.";
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
