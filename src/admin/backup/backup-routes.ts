import * as z from "zod";
import { backupId, backupPage, backupSchema } from "../../schemas/backup.ts";
import { findBackup, listBackups, type ListingDependencies } from "../../backup/listing.ts";
import { orUnavailable } from "../calls.ts";
import { BAD_CURSOR, noteField, outcome, pageQuery } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

export const backupParams = z.object({ id: backupId });
export const noteBody = z.strictObject({ note: noteField });

const backupAnswer = z
  .strictObject({ ...outcome, backup: backupSchema })
  .meta({ id: "BackupAnswer", description: "A backup after a call." });

const BACKUPS_UNAVAILABLE = { 503: "`backups_unavailable`: R2 does not answer" };
export const BACKUP_PROBLEMS = { 404: "`backup_not_found`", ...BACKUPS_UNAVAILABLE };

const PINNING = {
  pin: {
    summary: "Keep a backup until it is unpinned",
    description: "Retention does not delete it meanwhile, nor does `DELETE`.",
  },
  unpin: {
    summary: "Leave a backup to retention again",
    description: "Retention may delete it from then on.",
  },
} as const;

export function backupRoutes({ coordinator, backups }: AdminPlatform) {
  const listing: ListingDependencies = { backups, jobs: () => coordinator.jobs() };
  const find = (id: string) => orUnavailable("backups", findBackup(listing, id));

  const list = route({
    method: "get",
    path: "/admin/backup/list",
    operationId: "listBackups",
    summary: "List the backups, newest first",
    description: "Including incomplete backups and those with a damaged manifest.",
    access: "read",
    query: z.strictObject(pageQuery),
    responses: { 200: { description: "A page of backups", body: backupPage } },
    problems: BACKUPS_UNAVAILABLE,
  }).answer(async ({ query }) => {
    const page = await orUnavailable("backups", listBackups(listing, query));
    return page.ok ? { status: 200, body: page.body } : BAD_CURSOR;
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
    problems: BACKUP_PROBLEMS,
  }).answer(async ({ params }) => {
    const found = await find(params.id);
    return found === null ? NO_BACKUP : { status: 200, body: found };
  });

  const pinning = (verb: keyof typeof PINNING) =>
    route({
      method: "post",
      path: `/admin/backup/:id/${verb}`,
      operationId: `${verb}Backup`,
      ...PINNING[verb],
      access: "operate",
      action: `backup.${verb}`,
      params: backupParams,
      body: noteBody,
      responses: { 200: { description: "The backup after the call", body: backupAnswer } },
      problems: BACKUP_PROBLEMS,
    }).answer(async ({ params: { id }, actor }) => {
      const before = await find(id);
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
      ...BACKUPS_UNAVAILABLE,
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

  return [list, one, remove, pinning("pin"), pinning("unpin")];
}

export const NO_BACKUP: Refusal = {
  problem: {
    status: 404,
    code: "backup_not_found",
    detail: "There is no backup with this id. GET /admin/backup/list lists the backups that exist.",
  },
};

const REMOVAL_DETAILS = {
  newest_verified: "This is the newest verified backup. Make and verify another one first.",
  newest: "This is the newest backup. Make another one first.",
  pinned: "This backup is pinned. Unpin it first.",
  in_use: "A job is working with this backup. Wait for its end.",
} as const;

function refuseRemoval(reason: keyof typeof REMOVAL_DETAILS): Refusal {
  return { problem: { status: 409, code: reason, detail: REMOVAL_DETAILS[reason] } };
}
