/** A backup's id and its only schemas in answers: the OpenAPI document and the pages follow from them. */
import * as z from "zod";
import type { EpochMs } from "../platform/units.ts";
import { count, type DeepReadonly, hexHash, idOf, timestamp } from "./fields.ts";

/** A UUIDv7 in lower case. Ids sort by time, and no id can be a path. */
export const backupId = idOf("a backup", "/admin/backup/list");

export function isBackupId(name: string): boolean {
  return backupId.safeParse(name).success;
}

/** Returns when a backup was requested: the first 48 bits of a UUIDv7. */
export function timeOfId(id: string): EpochMs {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

export const BACKUP_TRIGGERS = ["manual", "cron", "restore"] as const;
export type BackupTrigger = (typeof BACKUP_TRIGGERS)[number];

/**
 * - `unverified`: no verification has finished.
 * - `verified`: every byte is intact, so that a restore gives the same bytes.
 * - `failed`: it is damaged.
 */
export const VERDICT_STATES = ["unverified", "verified", "failed"] as const;
export type VerdictState = (typeof VERDICT_STATES)[number];

/**
 * - `queued`: a job waits to make it.
 * - `running`: a job is making it.
 * - `complete`: it has a usable manifest.
 * - `incomplete`: it has no manifest.
 * - `damaged`: its manifest is unusable.
 */
const BACKUP_STATES = ["queued", "running", "complete", "incomplete", "damaged"] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

/** A backup in the answers of the API. Fields from the manifest are null without one. */
export const backupSchema = z
  .strictObject({
    id: backupId,
    state: z.enum(BACKUP_STATES).meta({
      description:
        "`incomplete`: it has no manifest and cannot be restored; `damaged`: its manifest is unusable.",
    }),
    trigger: z.enum(BACKUP_TRIGGERS).nullable(),
    note: z.string().nullable(),
    pinned: z.boolean(),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    size_bytes: count.nullable().meta({
      description: "Size of all its parts and objects, including shared objects.",
    }),
    parts: count.nullable(),
    objects: count.nullable(),
    tables: z.record(z.string(), z.strictObject({ rows: count })),
    generation: z.int().nullable(),
    catalog_sha256: hexHash.nullable(),
    verified: z.strictObject({
      state: z.enum(VERDICT_STATES),
      at: timestamp.nullable(),
      message: z.string(),
    }),
    ahead: z.boolean().meta({
      description:
        "Whether it is dated after R2 stored it, because a clock was wrong. Then the time at which R2 stored it counts.",
    }),
    problem: z.string().nullable(),
  })
  .meta({ id: "Backup", description: "A backup of everything that is stored." });

export const backupPage = z.strictObject({
  backups: z.array(backupSchema).meta({ description: "Newest first." }),
  next_cursor: z.string().nullable(),
  total: count,
  other_folders: z.array(z.string()).meta({
    description:
      "Names of other folders under `backups/`, a hundred at most: no backup has such an id, so that nothing reads or deletes them.",
  }),
});

export type Backup = DeepReadonly<z.output<typeof backupSchema>>;
export type BackupPage = DeepReadonly<z.output<typeof backupPage>>;
