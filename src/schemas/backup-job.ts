/** Backup jobs, and the plans of their stages. */
import * as z from "zod";
import { count, type DeepReadonly, timestamp } from "./fields.ts";
import { FAULT_CODES } from "./backup-fault.ts";
import { BACKUP_TRIGGERS, VERDICT_STATES } from "./backup.ts";

export const BACKUP = "backup";

/** `run` makes a backup. */
const JOB_KINDS = ["run", "verify", "restore"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued → running → succeeded | failed`, or `queued → cancelled`. The last three are final. */
const JOB_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

const COPY = ["copy_state", "copy_tables", "copy_objects", "write_manifest"] as const;
const CHECK = ["check_parts", "check_objects", "check_catalog"] as const;
/** `settle` replicates. */
const RESTORE = ["restore_objects", "restore_tables", "replace_versions", "settle"] as const;
const BACKUP_STAGES = [...COPY, ...CHECK, "retention", "compare_schema", ...RESTORE] as const;
export type BackupStage = (typeof BACKUP_STAGES)[number];

export const jobSchema = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(JOB_KINDS),
    backup_id: z
      .uuid()
      .meta({ description: "The backup that the job makes, verifies or restores." }),
    chain: z.array(z.uuid()).meta({
      description:
        "The jobs of the same request, in order. Each starts when the one before it has succeeded, and is cancelled if that fails. A restore follows a backup of the state before it, whose id is the first one here: restore that backup to undo the restore.",
    }),
    trigger: z.enum(BACKUP_TRIGGERS),
    note: z.string().nullable(),
    pin: z.boolean(),
    requested_by: z.string(),
    state: z.enum(JOB_STATES),
    stage: z.enum(BACKUP_STAGES).nullable(),
    progress: z.strictObject({ done: count, total: count }).meta({
      description: "Progress of the present stage; `total` is 0 if unknown.",
    }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    verdict: z.enum(VERDICT_STATES).nullable().meta({
      description: "Of a verification or a restore: the verdict on the backup.",
    }),
    generation: z.int().nullable().meta({
      description: "Of a restore: the generation that serves the restored catalog.",
    }),
    paused: z.boolean().nullable().meta({
      description:
        "Of a restore: true once it has paused ingestion, so that no run undoes it. POST /admin/ingest/resume lifts the pause.",
    }),
    warning: z.string().exactOptional().meta({
      description:
        "Of a restore: how the locales of the backup differ from the settings, what it lacked, and what follows from that.",
    }),
    kept_for: z.array(z.uuid()).meta({
      description:
        "Of a backup: unreadable backups, such as those of a newer Worker. They may name any object, so that retention has deleted none.",
    }),
    error: z
      .strictObject({
        code: z.enum([...FAULT_CODES, "predecessor_failed"]),
        message: z.string(),
        stage: z.enum(BACKUP_STAGES).nullable(),
      })
      .nullable(),
  })
  .meta({ id: "BackupJob", description: "A job that makes, verifies or restores a backup." });

export type BackupJob = DeepReadonly<z.output<typeof jobSchema>>;

export function isCheck(stage: BackupStage): boolean {
  return CHECK.some((check) => check === stage);
}

/** The stages of each kind of job. A restore adds only data until `replace_versions`, and then cannot fail. */
export const PLANS: { readonly [K in JobKind]: readonly BackupStage[] } = {
  run: [...COPY, "retention"],
  verify: CHECK,
  restore: [...CHECK, "compare_schema", ...RESTORE],
};
