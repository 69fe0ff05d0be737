import * as z from "zod";
import type { AcceptedJob, JobResult } from "../../coordinator/backup-jobs.ts";
import { type BackupJob, jobSchema } from "../../schemas/backup-job.ts";
import { backupSchema } from "../../schemas/backup.ts";
import { outcome, pageFields } from "../http/query.ts";
import type { Refusal } from "../http/route.ts";

export const jobAnswer = z
  .strictObject({
    ...outcome,
    job: jobSchema.meta({
      description:
        "The new job, or that of the request that this one repeats. `chain` names the jobs before and after it.",
    }),
  })
  .meta({ id: "BackupJobAnswer", description: "A job with a backup." });

/** The answer to a request for a backup. */
export const runAnswer = jobAnswer
  .extend({
    backup: backupSchema.nullable().meta({
      description: "As it is now; null while R2 does not answer. The job goes on all the same.",
    }),
  })
  .meta({
    id: "BackupRunAnswer",
    description: "The job that makes a backup, and the backup so far.",
  });

/** The answer to a change of a backup itself. */
export const backupAnswer = z
  .strictObject({ ...outcome, backup: backupSchema })
  .meta({ id: "BackupAnswer", description: "A backup after a call." });

/** A page of backup jobs. */
export const jobPage = z.strictObject({
  jobs: z.array(jobSchema).meta({ description: "Newest first, of the last hundred that ended." }),
  ...pageFields,
});

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists the backups that exist.",
  },
};

/** The answers to a request for a job. */
export function acceptances<Body extends z.ZodType>(named: string, body: Body) {
  const headers = { Location: `The path of ${named}.` };
  return {
    200: { description: "The job of the request that this one repeats", headers, body },
    202: { description: "The job is queued", headers, body },
  } as const;
}

/** Answers with a new job, or with that of the request that this one repeats. */
export function accept({ changed, job }: AcceptedJob, location: string) {
  return {
    status: changed ? 202 : 200,
    body: { changed, job, message: describeJob(changed, job) },
    headers: { location },
    change: { target: job.backup_id, after: { changed, job_id: job.id } },
  } as const;
}

function describeJob(changed: boolean, { id, kind, chain, state, warning }: BackupJob): string {
  const result = changed
    ? "The job is queued."
    : `The same job was queued before, and is ${state}.`;
  const undo =
    kind === "restore"
      ? ` It follows a backup of the present state: to undo the restore, restore ${chain[0]}.`
      : "";
  const caution = warning === undefined ? "" : ` ${warning}`;
  return `${result}${caution}${undo} GET /admin/backup/jobs/${id} shows its progress.`;
}

/** After this time a busy coordinator is worth another try. */
const RETRY_SECONDS = 30;

/** Why a job is not begun. */
export function refuseJob(result: Extract<JobResult, { ok: false }>): Refusal {
  switch (result.reason) {
    case "not_found":
      return NO_BACKUP;
    case "foreign_stores":
      return { problem: { status: 409, code: result.reason, detail: result.detail } };
    case "queue_full":
      return {
        problem: {
          status: 429,
          code: result.reason,
          detail: "Too many backup jobs wait already. Try again later.",
        },
        headers: { "retry-after": String(RETRY_SECONDS) },
      };
    default:
      return result satisfies never;
  }
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
