import { z } from "zod";
import { backupId } from "../../backup/backup-id.ts";
import { FAULT_CODES } from "../../backup/fault.ts";
import { BACKUP_TRIGGERS } from "../../backup/format.ts";
import { JOB_KINDS, JOB_STATES, PHASES } from "../../backup/job.ts";
import { BACKUP_STATES } from "../../backup/listing.ts";
import { VERDICT_STATES } from "../../backup/verdict.ts";
import { BACKUP_STATUSES } from "../../health/backup-rules.ts";
import { count, sha256Hex, timestamp } from "../ingest/run-schema.ts";

export const backupStatus = z.enum(BACKUP_STATUSES).meta({
  description:
    "`stale`: the newest was finished over 26 hours ago; `unverified`: the newest has not proved good.",
});

/** A backup as it goes out. */
export const backupSchema = z
  .strictObject({
    id: backupId,
    state: z.enum(BACKUP_STATES).meta({
      description:
        "`incomplete`: without a manifest, so no backup; `damaged`: its manifest cannot be used.",
    }),
    trigger: z.enum(BACKUP_TRIGGERS).nullable(),
    note: z.string().nullable(),
    pinned: z.boolean(),
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    size_bytes: count.nullable().meta({
      description: "Of all that it names, also of objects that other backups share.",
    }),
    parts: count.nullable(),
    objects: count.nullable(),
    tables: z.record(z.string(), z.strictObject({ rows: count, sha256: sha256Hex })),
    generation: z.int().nullable(),
    catalog_sha256: sha256Hex.nullable(),
    verified: z.strictObject({
      state: z.enum(VERDICT_STATES).meta({
        description:
          "`intact`: every byte is right, but this Worker builds another catalog of them, since its code or snapshot is another.",
      }),
      at: timestamp.nullable(),
      message: z.string(),
    }),
    expires_at: timestamp.nullable().meta({
      description: "Retention does not delete it before; null while it is not to be deleted.",
    }),
    problem: z.string().nullable(),
  })
  .meta({ id: "Backup" });

export const backupPage = z.strictObject({
  status: backupStatus,
  backups: z.array(backupSchema).meta({ description: "Newest first." }),
  next_cursor: z.string().nullable(),
  total: count,
});

/** A job as it goes out. */
export const jobSchema = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(JOB_KINDS),
    backup_id: z.uuid(),
    trigger: z.enum(BACKUP_TRIGGERS),
    note: z.string().nullable(),
    pin: z.boolean(),
    requested_by: z.string(),
    state: z.enum(JOB_STATES),
    phase: z.enum(PHASES).nullable(),
    progress: z.strictObject({ done: count, total: count }).meta({
      description: "Of the present phase; `total` is 0 where it is not known.",
    }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    verdict: z.enum(VERDICT_STATES).nullable(),
    undo_backup_id: z.uuid().nullable().meta({
      description: "Of a restore: the backup of what was there before; restoring that undoes it.",
    }),
    generation: z.int().nullable().meta({
      description: "Of a restore: the generation that serves the restored catalog.",
    }),
    paused: z.boolean().nullable().meta({
      description: "Of a restore: whether ingestion is paused after it; it never lifts a pause.",
    }),
    error: z
      .strictObject({ code: z.enum(FAULT_CODES), message: z.string(), phase: z.enum(PHASES) })
      .nullable(),
  })
  .meta({ id: "BackupJob", description: "Making, verifying or restoring a backup." });

export const jobAnswer = z
  .strictObject({
    disposition: z.enum(["started", "queued", "attached", "unchanged"]).meta({
      description:
        "`attached`: the same was under way already; `unchanged`: it was restored before, and nothing has been published since.",
    }),
    job: jobSchema,
    message: z.string(),
  })
  .meta({ id: "BackupJobAnswer" });

/** What asking for a backup is answered. */
export const runAnswer = jobAnswer
  .extend({
    backup: backupSchema.nullable().meta({
      description: "As it is now; null while R2 does not answer. The job goes on all the same.",
    }),
  })
  .meta({ id: "BackupRunAnswer" });
