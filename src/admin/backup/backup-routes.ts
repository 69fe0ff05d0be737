import * as z from "zod";
import type { JobRequest, JobResult } from "../../coordinator/backup-jobs.ts";
import { type BackupJob, jobSchema } from "../../schemas/backup-job.ts";
import { backupId, backupPage, backupSchema } from "../../schemas/backup.ts";
import { findBackup, listBackups, type ListingDependencies } from "../../backup/listing.ts";
import { idOf } from "../../schemas/fields.ts";
import { pageOf } from "../../storage/page.ts";
import { nullIfUnavailable, orUnavailable } from "../calls.ts";
import { BAD_CURSOR, noteField, outcome, pageQuery, restOf } from "../http/query.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import {
  accept,
  acceptances,
  backupAnswer,
  jobAnswer,
  jobPage,
  NO_BACKUP,
  refuseJob,
  refuseRemoval,
  runAnswer,
} from "./backup-answers.ts";

const runBody = z.strictObject({
  note: noteField,
  pin: z.boolean().default(false).meta({ description: "Keep it until it is unpinned." }),
});

const noteBody = z.strictObject({ note: noteField });
const backupParams = z.object({ id: backupId });
const jobParams = z.object({ id: idOf("a job", "/admin/backup/jobs") });

const FOREIGN_STORES = "`foreign_stores`: another installation or a newer Worker owns the stores";
const QUEUE_FULL = "`queue_full`: too many jobs wait";
/** Describes status 503 on routes that read R2. */
const BACKUPS_UNAVAILABLE = "`backups_unavailable`: R2 does not answer";

/** How long the answer to making a backup waits until R2 shows it. */
const BACKUP_DEADLINE_MS = 2_000;

/** Making, listing, verifying, restoring, pinning and deleting backups. */
export function backupRoutes({ coordinator, backups, now }: AdminPlatform) {
  const listing: ListingDependencies = { backups, jobs: () => coordinator.jobs(), now };

  const run = route({
    method: "post",
    path: "/admin/backup/run",
    operationId: "makeBackup",
    summary: "Make a backup",
    description: "Of everything that is stored. The next job of its `chain` verifies it.",
    access: "operate",
    action: "backup.run",
    beginsWork: true,
    body: runBody,
    responses: acceptances("its backup", runAnswer),
    problems: { 409: FOREIGN_STORES, 429: QUEUE_FULL },
  }).answer(async ({ body, actor, idempotencyKey, requestId }) => {
    const { note = null, pin } = body;
    const result = await coordinator.backUp({
      trigger: "manual",
      note,
      pin,
      requested_by: actor.id,
      idempotencyKey: idempotencyKey ?? requestId,
    });
    if (!result.ok) return refuseJob(result);
    const { body: accepted, ...answer } = accept(result, `/admin/backup/${result.job.backup_id}`);
    const backup = await backupOf(result.job);
    return { ...answer, body: { ...accepted, backup } };
  });

  /** The backup that a job makes; null if R2 does not say. The job is begun all the same. */
  async function backupOf(made: BackupJob) {
    const found = findBackup({ ...listing, jobs: async () => [made] }, made.backup_id);
    return nullIfUnavailable(orUnavailable("backups", found, BACKUP_DEADLINE_MS));
  }

  const list = route({
    method: "get",
    path: "/admin/backup/list",
    operationId: "listBackups",
    summary: "List the backups, newest first",
    description:
      "Also what is left of backups that never became whole, or whose manifest is wrong.",
    access: "read",
    query: z.strictObject(pageQuery),
    responses: { 200: { description: "A page of backups", body: backupPage } },
    problems: { 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ query }) => {
    const page = await orUnavailable("backups", listBackups(listing, query));
    return page.ok ? { status: 200, body: page.body } : BAD_CURSOR;
  });

  const listJobs = route({
    method: "get",
    path: "/admin/backup/jobs",
    operationId: "listBackupJobs",
    summary: "List the recent backup jobs, newest first",
    description: "The jobs that wait or are under way, and the last hundred that ended.",
    access: "read",
    query: z.strictObject(pageQuery),
    responses: { 200: { description: "A page of jobs", body: jobPage } },
  }).answer(async ({ query }) => {
    const order = { keyOf: ({ id }: BackupJob) => id, descending: true };
    const page = pageOf(await coordinator.jobs(), query, order);
    return page.ok ? { status: 200, body: { jobs: page.items, ...restOf(page) } } : BAD_CURSOR;
  });

  const job = route({
    method: "get",
    path: "/admin/backup/jobs/:id",
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

  const one = route({
    method: "get",
    path: "/admin/backup/:id",
    operationId: "getBackup",
    summary: "One backup",
    description: "What it contains, and whether it is verified.",
    access: "read",
    params: backupParams,
    responses: { 200: { description: "The backup", body: backupSchema } },
    problems: { 404: "`backup_not_found`", 503: BACKUPS_UNAVAILABLE },
  }).answer(async ({ params }) => {
    const found = await orUnavailable("backups", findBackup(listing, params.id));
    return found === null ? NO_BACKUP : { status: 200, body: found };
  });

  /** A route that begins a job with a backup. */
  const jobRoute = (
    verb: "verify" | "restore",
    about: { readonly summary: string; readonly description: string },
    begin: (id: string, request: JobRequest) => Promise<JobResult>,
  ) =>
    route({
      method: "post",
      path: `/admin/backup/:id/${verb}`,
      operationId: `${verb}Backup`,
      ...about,
      access: "operate",
      action: `backup.${verb}`,
      beginsWork: true,
      params: backupParams,
      body: noteBody,
      responses: acceptances("the job", jobAnswer),
      problems: {
        404: "`backup_not_found`",
        ...(verb === "restore" && { 409: FOREIGN_STORES }),
        429: QUEUE_FULL,
        503: BACKUPS_UNAVAILABLE,
      },
    }).answer(async ({ params, body: { note = null }, actor, idempotencyKey, requestId }) => {
      const result = await begin(params.id, {
        requested_by: actor.id,
        note,
        // Without a key, the id of the request marks repeated calls of the coordinator.
        idempotencyKey: idempotencyKey ?? requestId,
      });
      return result.ok ? accept(result, `/admin/backup/jobs/${result.job.id}`) : refuseJob(result);
    });

  const verify = jobRoute(
    "verify",
    {
      summary: "Verify a backup",
      description:
        "Reads everything back, hashes and decodes it, and builds the catalog anew from the archived upstream bytes.",
    },
    async (id, request) => coordinator.verifyBackup(id, request),
  );

  const restore = jobRoute(
    "restore",
    {
      summary: "Restore a backup",
      description:
        "Queues three jobs, the `chain` of each, after those that wait already: a backup of the present state, the restore, and the verification of that new backup. The restore verifies the backup, adds what the history lacks, and publishes its catalog under a new generation. Ingestion is paused afterwards, so that no run undoes it, until `POST /admin/ingest/resume`. The audit stays as it is. To undo the restore, restore the first id of `chain`. If a job fails, those after it are cancelled.",
    },
    async (id, request) => coordinator.restoreBackup(id, request),
  );

  const pinRoute = (
    verb: "pin" | "unpin",
    about: { readonly summary: string; readonly description: string },
  ) =>
    route({
      method: "post",
      path: `/admin/backup/:id/${verb}`,
      operationId: `${verb}Backup`,
      ...about,
      access: "operate",
      action: `backup.${verb}`,
      params: backupParams,
      body: noteBody,
      responses: { 200: { description: "The backup after the call", body: backupAnswer } },
      problems: { 404: "`backup_not_found`", 503: BACKUPS_UNAVAILABLE },
    }).answer(async ({ params: { id }, actor }) => {
      const before = await orUnavailable("backups", findBackup(listing, id));
      if (before === null) return NO_BACKUP;
      const pinned = verb === "pin";
      const pin = JSON.stringify({ by: actor.id });
      await orUnavailable(
        "backups",
        pinned ? backups.writeNote(id, "pin", pin) : backups.deleteNote(id, "pin"),
      );
      const changed = pinned !== before.pinned;
      const kept = pinned ? "kept until somebody unpins it" : "left to retention";
      const message = `The backup ${changed ? "is" : "was already"} ${kept}.`;
      return {
        status: 200,
        body: { changed, message, backup: { ...before, pinned } },
        change: { before: { pinned: before.pinned }, after: { pinned } },
      };
    });

  const pin = pinRoute("pin", {
    summary: "Keep a backup until it is unpinned",
    description: "Retention does not delete it meanwhile, nor does `DELETE`.",
  });
  const unpin = pinRoute("unpin", {
    summary: "Leave a backup to retention again",
    description: "Retention may delete it from then on.",
  });

  const remove = route({
    method: "delete",
    path: "/admin/backup/:id",
    operationId: "deleteBackup",
    summary: "Delete a backup",
    description: "Never the newest, nor the newest verified one. Nothing brings it back.",
    access: "operate",
    action: "backup.delete",
    params: backupParams,
    query: noteBody,
    responses: { 200: { description: "It is gone", body: z.strictObject(outcome) } },
    problems: {
      409: "`newest_verified`, `newest`, `pinned`, `in_use`: see the detail",
      503: BACKUPS_UNAVAILABLE,
    },
  }).answer(async ({ params }) => {
    const result = await coordinator.removeBackup(params.id);
    if (!result.ok && result.reason !== "not_found") return refuseRemoval(result.reason);
    const message = result.ok
      ? "The backup is deleted."
      : "There is no backup with this id: nothing changed.";
    const changed = result.ok;
    return { status: 200, body: { changed, message }, change: { after: { changed } } };
  });

  return [run, list, listJobs, job, one, remove, verify, restore, pin, unpin];
}
