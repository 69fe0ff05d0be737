import { z } from "zod";
import { backupId } from "../backup/backup-id.ts";
import type { Accepted, JobResult } from "../backup/coordinator.ts";
import { findBackup, listBackups, type ListingDependencies } from "../backup/listing.ts";
import type { RemoveResult } from "../backup/remove-backup.ts";
import { readBackups } from "./backup-calls.ts";
import { backupPage, backupSchema, jobAnswer, jobSchema } from "./backup-schema.ts";
import type { BackupAccess } from "./backup-use-cases.ts";
import { pageQuery } from "./query.ts";
import { type Refusal, route } from "./route.ts";
import { snakeKeys } from "./snake-keys.ts";

const runBody = z.strictObject({
  note: z.string().max(500).optional(),
  pin: z.boolean().default(false).meta({ description: "Keep it until it is unpinned." }),
});

/** The path of one backup. */
export const ofBackup = {
  params: z.object({ id: backupId }),
  invalidParams: 400,
} as const;

const BACKUPS_UNAVAILABLE = "`backups_unavailable`: R2 does not answer";

/** Jobs that an answer may list. */
const JOBS_LISTED = 50;

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists those that there are.",
  },
};

/** Making, listing, verifying, restoring, pinning and deleting backups. */
export function backupRoutes({ jobs, store, staleAfterMs }: BackupAccess, now: () => number) {
  const listing: ListingDependencies = {
    backups: store,
    jobs: () => jobs.jobs(JOBS_LISTED),
    now,
    staleAfterMs,
  };

  const run = route({
    method: "post",
    path: "/admin/backup/run",
    summary: "Make a backup",
    description:
      "Of everything that is stored. It is verified right after. While one is being made, that one is the answer, unless it lacks the note or the pin that is asked for: then another is made after it.",
    access: "operate",
    action: "backup.run",
    body: runBody,
    responses: { 202: { description: "It is under way; Location names it", body: jobAnswer } },
    problems: { 429: "`queue_full`: too many jobs wait" },
  }).answer(async ({ body, actor }) => {
    const { note = null, pin } = body;
    const request = { trigger: "manual", note, pin, requestedBy: actor.id } as const;
    const result = await jobs.run(request);
    if (!result.ok) return refuseJob(result);
    return accept(result, `/admin/backup/${result.job.backupId}`);
  });

  const list = route({
    method: "get",
    path: "/admin/backup/list",
    summary: "List the backups, newest first",
    description:
      "Also what is left of backups that never became whole, or whose manifest is wrong.",
    access: "read",
    query: z.strictObject({ ...pageQuery, cursor: backupId.optional() }),
    responses: { 200: { description: "A page of them", body: backupPage } },
    problems: { 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ query: { limit, cursor = null } }) => {
    const read = await readBackups(listBackups(listing, { limit, cursor }));
    return read.ok ? { status: 200, body: outgoing(backupPage, read.value) } : read.refusal;
  });

  const listJobs = route({
    method: "get",
    path: "/admin/backup/jobs",
    summary: "What has been done about backups of late, newest first",
    access: "read",
    responses: {
      200: { description: "The jobs", body: z.strictObject({ jobs: z.array(jobSchema) }) },
    },
  }).answer(async () => ({
    status: 200,
    body: { jobs: snakeKeys(await jobs.jobs(JOBS_LISTED)) },
  }));

  const job = route({
    method: "get",
    path: "/admin/backup/jobs/:id",
    summary: "How far a job is, and what it came to",
    access: "read",
    params: z.object({ id: z.uuid() }),
    responses: { 200: { description: "The job", body: jobSchema } },
    problems: { 404: "`job_not_found`" },
  }).answer(async ({ params }) => {
    const found = await jobs.findJob(params.id);
    if (found !== null) return { status: 200, body: snakeKeys(found) };
    const detail = "There is no such job among the last hundred.";
    return { problem: { status: 404, code: "job_not_found", detail } };
  });

  const one = route({
    method: "get",
    path: "/admin/backup/:id",
    summary: "One backup",
    access: "read",
    ...ofBackup,
    responses: { 200: { description: "The backup", body: backupSchema } },
    problems: { 404: "`backup_not_found`", 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ params }) => {
    const read = await readBackups(findBackup(listing, params.id));
    if (!read.ok) return read.refusal;
    const found = read.value;
    return found === null ? NO_BACKUP : { status: 200, body: outgoing(backupSchema, found) };
  });

  const verify = route({
    method: "post",
    path: "/admin/backup/:id/verify",
    summary: "Verify a backup",
    description:
      "Reads everything back, hashes and decodes it, and builds the catalog anew from the archived upstream bytes.",
    access: "operate",
    action: "backup.verify",
    ...ofBackup,
    responses: { 202: { description: "It is under way; Location names the job", body: jobAnswer } },
    problems: { 404: "`backup_not_found`", 429: "`queue_full`: too many jobs wait" },
  }).answer(async ({ params, actor }) => {
    const result = await jobs.verify(params.id, actor.id);
    return result.ok ? accept(result, `/admin/backup/jobs/${result.job.id}`) : refuseJob(result);
  });

  const restore = route({
    method: "post",
    path: "/admin/backup/:id/restore",
    summary: "Restore a backup",
    description:
      "Verifies it, backs up the present as `way_back_id`, and then replaces history, state and catalog. Restoring `way_back_id` undoes it.",
    access: "operate",
    action: "backup.restore",
    ...ofBackup,
    responses: { 202: { description: "It is under way; Location names the job", body: jobAnswer } },
    problems: {
      404: "`backup_not_found`",
      409: "`run_active`: an ingest run is under way; `busy`: another job about backups is",
      429: "`queue_full`: too many jobs wait",
    },
  }).answer(async ({ params, actor }) => {
    const result = await jobs.restore(params.id, actor.id);
    return result.ok ? accept(result, `/admin/backup/jobs/${result.job.id}`) : refuseJob(result);
  });

  const pin = route({
    method: "post",
    path: "/admin/backup/:id/pin",
    summary: "Keep a backup until it is unpinned",
    access: "operate",
    action: "backup.pin",
    ...ofBackup,
    responses: { 200: { description: "The backup", body: backupSchema } },
    problems: { 404: "`backup_not_found`" },
  }).answer(async ({ params, actor }) => setPin(params.id, actor.id));

  const unpin = route({
    method: "post",
    path: "/admin/backup/:id/unpin",
    summary: "Leave a backup to retention again",
    access: "operate",
    action: "backup.unpin",
    ...ofBackup,
    responses: { 200: { description: "The backup", body: backupSchema } },
    problems: { 404: "`backup_not_found`" },
  }).answer(async ({ params }) => setPin(params.id, null));

  /** Pins a backup for somebody, or unpins it for null. */
  async function setPin(id: string, by: string | null) {
    const before = await findBackup(listing, id);
    if (before === null) return NO_BACKUP;
    if (by === null) await store.deleteNote(id, "pin");
    else await store.writeNote(id, "pin", JSON.stringify({ by }));
    const after = { ...before, pinned: by !== null };
    return {
      status: 200,
      body: outgoing(backupSchema, after),
      change: { before: { pinned: before.pinned }, after: { pinned: after.pinned } },
    } as const;
  }

  const remove = route({
    method: "delete",
    path: "/admin/backup/:id",
    summary: "Delete a backup",
    description: "Never the newest, nor the newest that proved good. Nothing brings it back.",
    access: "operate",
    action: "backup.delete",
    ...ofBackup,
    responses: { 204: { description: "It is deleted" } },
    problems: {
      404: "`backup_not_found`",
      409: "`newest_verified`, `newest`, `pinned`, `in_use`: see the detail",
    },
  }).answer(async ({ params }) => {
    const result = await jobs.remove(params.id);
    return result.ok ? { status: 204 } : refuseRemoval(result.reason);
  });

  return [run, list, listJobs, job, one, remove, verify, restore, pin, unpin];
}

/** A value in the form of a schema: in snake_case, but for the names of tables, which are data. */
function outgoing<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  return schema.parse(snakeKeys(value));
}

function accept({ disposition, job }: Accepted, location: string) {
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

function refuseJob(result: Extract<JobResult, { ok: false }>): Refusal {
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

function refuseRemoval(reason: Extract<RemoveResult, { ok: false }>["reason"]): Refusal {
  if (reason === "not_found") return NO_BACKUP;
  return { problem: { status: 409, code: reason, detail: REMOVAL_DETAILS[reason] } };
}
