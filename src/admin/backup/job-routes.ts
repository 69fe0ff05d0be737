import * as z from "zod";
import type { AcceptedJob, JobResult } from "../../coordinator/backup-jobs.ts";
import { EFFECTS } from "../../schemas/effects.ts";
import { type BackupJob, jobSchema } from "../../schemas/backup-job.ts";
import { backupSchema } from "../../schemas/backup.ts";
import { findBackup } from "../../backup/listing.ts";
import { idOf } from "../../schemas/fields.ts";
import { pageOf } from "../../storage/page.ts";
import { nullIfUnavailable, orUnavailable } from "../calls.ts";
import { BAD_CURSOR, outcome, pageFields, pageQuery, restOf } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { BACKUP_PROBLEMS, backupParams, NO_BACKUP, noteBody } from "./backup-routes.ts";

const runBody = noteBody.extend({
  pin: z.boolean().default(false).meta({ description: "Keep it until it is unpinned." }),
});

const jobParams = z.object({ id: idOf("a job", "/admin/backup-jobs") });

const jobPage = z.strictObject({
  jobs: z.array(jobSchema).meta({ description: "Newest first, of the last hundred that ended." }),
  ...pageFields,
});

const jobAnswer = z
  .strictObject({
    ...outcome,
    job: jobSchema.meta({
      description:
        "The new job, or that of the request that this one repeats. `chain` names the jobs before and after it.",
    }),
  })
  .meta({ id: "BackupJobAnswer", description: "A job with a backup." });

const runAnswer = jobAnswer
  .extend({
    backup: backupSchema.nullable().meta({
      description: "As it is now; null while R2 does not answer. The job continues.",
    }),
  })
  .meta({
    id: "BackupRunAnswer",
    description: "The job that makes a backup, and the backup so far.",
  });

const FOREIGN_STORES = "`foreign_stores`: another installation or a newer Worker owns the stores";
const QUEUE_FULL = "`queue_full`: too many jobs wait";

const WORK = {
  verify: {
    summary: "Verify a backup",
    description: EFFECTS.verifyBackup,
  },
  restore: {
    summary: "Restore a backup",
    description: `${EFFECTS.restoreBackup} These are three jobs, the \`chain\` of each, after those that wait already; if one fails, those after it are cancelled. Ingestion is paused afterwards, so that no run undoes it, until \`POST /admin/ingest/resume\`. To undo the restore, restore the first id of \`chain\`.`,
  },
} as const;

const BACKUP_DEADLINE_MS = 2_000;

export function backupJobRoutes({ coordinator, backups }: AdminPlatform) {
  const run = route({
    method: "post",
    path: "/admin/backup/run",
    operationId: "makeBackup",
    summary: "Make a backup",
    description: EFFECTS.makeBackup,
    access: "operate",
    action: "backup.run",
    startsWork: true,
    body: runBody,
    responses: acceptances("its backup", runAnswer),
    problems: { 409: FOREIGN_STORES, 429: QUEUE_FULL },
  }).answer(async ({ body: { note = null, pin }, actor, idempotencyKey, requestId }) => {
    const result = await coordinator.backUp({
      trigger: "manual",
      note,
      pin,
      requested_by: actor.id,
      idempotencyKey: idempotencyKey ?? requestId,
    });
    if (!result.ok) return refuseJob(result);
    const { body: accepted, ...answer } = accept(result, `/admin/backup/${result.job.backup_id}`);
    return { ...answer, body: { ...accepted, backup: await backupOf(result.job) } };
  });

  /** The backup that a job makes; null if R2 does not answer. The job starts all the same. */
  async function backupOf(made: BackupJob) {
    const found = findBackup({ backups, jobs: async () => [made] }, made.backup_id);
    return nullIfUnavailable(orUnavailable("backups", found, BACKUP_DEADLINE_MS));
  }

  const list = route({
    method: "get",
    path: "/admin/backup-jobs",
    operationId: "listBackupJobs",
    summary: "List the recent backup jobs, newest first",
    description: "The jobs that wait or are in progress, and the last hundred that ended.",
    access: "read",
    query: z.strictObject(pageQuery),
    responses: { 200: { description: "A page of jobs", body: jobPage } },
  }).answer(async ({ query }) => {
    const order = { keyOf: ({ id }: BackupJob) => id, descending: true };
    const page = pageOf(await coordinator.jobs(), query, order);
    return page.ok ? { status: 200, body: { jobs: page.items, ...restOf(page) } } : BAD_CURSOR;
  });

  const one = route({
    method: "get",
    path: "/admin/backup-jobs/:id",
    operationId: "getBackupJob",
    summary: "One backup job",
    description: "Its stage and progress, and in the end its verdict or error.",
    access: "read",
    params: jobParams,
    responses: { 200: { description: "The job", body: jobSchema } },
    problems: { 404: "`job_not_found`" },
  }).answer(async ({ params }) => {
    const found = await coordinator.findJob(params.id);
    if (found !== null) return { status: 200, body: found };
    const detail = "There is no such job among the last hundred.";
    return { problem: { status: 404, code: "job_not_found", detail } };
  });

  const work = (verb: keyof typeof WORK) =>
    route({
      method: "post",
      path: `/admin/backup/:id/${verb}`,
      operationId: `${verb}Backup`,
      ...WORK[verb],
      access: "operate",
      action: `backup.${verb}`,
      startsWork: true,
      params: backupParams,
      body: noteBody,
      responses: acceptances("the job", jobAnswer),
      problems: {
        ...BACKUP_PROBLEMS,
        ...(verb === "restore" && { 409: FOREIGN_STORES }),
        429: QUEUE_FULL,
      },
    }).answer(async ({ params, body: { note = null }, actor, idempotencyKey, requestId }) => {
      const start = verb === "verify" ? coordinator.verifyBackup : coordinator.restoreBackup;
      const result = await start(params.id, {
        requested_by: actor.id,
        note,
        // Without a key, the id of the request marks repeated calls of the coordinator.
        idempotencyKey: idempotencyKey ?? requestId,
      });
      return result.ok ? accept(result, `/admin/backup-jobs/${result.job.id}`) : refuseJob(result);
    });

  return [run, list, one, work("verify"), work("restore")];
}

function acceptances<Body extends z.ZodType>(named: string, body: Body) {
  const headers = { Location: `The path of ${named}.` };
  return {
    200: { description: "The job of the request that this one repeats", headers, body },
    202: { description: "The job is queued", headers, body },
  } as const;
}

/** Answers with a new job, or with that of the repeated request. */
function accept({ changed, job }: AcceptedJob, location: string) {
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
  return `${result}${caution}${undo} GET /admin/backup-jobs/${id} shows its progress.`;
}

const RETRY_SECONDS = 30;

function refuseJob(result: Extract<JobResult, { ok: false }>): Refusal {
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
