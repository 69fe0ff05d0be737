/** Backup jobs and the plans of their stages. Pure: no clock, no I/O. */
import { z } from "zod";
import { count, type DeepReadonly, timestamp } from "../catalog/fields.ts";
import type { JobRecord } from "../coordinator/job-record.ts";
import type { TableShape, Value } from "../storage/database-copy.ts";
import { type Fault, FAULT_CODES } from "./fault.ts";
import { BACKUP_TRIGGERS, type BackupManifest } from "./format.ts";
import type { Item, ItemReader } from "./job-items.ts";
import { VERDICT_STATES } from "./verdict.ts";

export const JOB_KINDS = ["run", "verify", "restore"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued → running → succeeded | failed`. The last two are final. */
export const JOB_STATES = ["queued", "running", "succeeded", "failed"] as const;

const COPY = ["copy_state", "copy_tables", "copy_objects", "write_manifest"] as const;
const CHECK = ["check_parts", "check_objects", "check_catalog", "rebuild"] as const;
const RESTORE = ["restore_objects", "restore_tables", "replace_versions", "settle"] as const;
const BACKUP_STAGES = [...COPY, ...CHECK, "retention", "compare_schema", ...RESTORE] as const;
export type BackupStage = (typeof BACKUP_STAGES)[number];

/** A job in the answers of the API. */
export const jobSchema = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(JOB_KINDS),
    backup_id: z
      .uuid()
      .meta({ description: "The backup that the job makes, verifies or restores." }),
    trigger: z.enum(BACKUP_TRIGGERS),
    note: z.string().nullable(),
    pin: z.boolean(),
    requested_by: z.string(),
    state: z.enum(JOB_STATES),
    stage: z.enum(BACKUP_STAGES).nullable(),
    progress: z.strictObject({ done: count, total: count }).meta({
      description:
        "Progress of the present stage; `total` is 0 if unknown. Of a succeeded job: its objects.",
    }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    verdict: z.enum(VERDICT_STATES).nullable(),
    undo_backup_id: z.uuid().nullable().meta({
      description:
        "Of a restore: the backup of the state before it. Restore that backup to undo it.",
    }),
    generation: z.int().nullable().meta({
      description: "Of a restore: the generation that serves the restored catalog.",
    }),
    paused: z.boolean().nullable().meta({
      description:
        "Of a restore: true once it has paused ingestion, so that no run undoes it. POST /admin/ingest/resume lifts the pause.",
    }),
    kept_for: z.array(z.uuid()).meta({
      description:
        "Of a backup: unreadable backups, such as those of a newer Worker. They may name any object, so that retention has deleted none.",
    }),
    error: z
      .strictObject({
        code: z.enum(FAULT_CODES),
        message: z.string(),
        stage: z.enum(BACKUP_STAGES),
      })
      .nullable(),
  })
  .meta({ id: "BackupJob", description: "A job that makes, verifies or restores a backup." });

export type BackupJob = DeepReadonly<z.output<typeof jobSchema>>;

/** A stage with its subject: the job's own backup, or the undo backup of a restore. */
export interface PlannedStage {
  readonly stage: BackupStage;
  readonly of: "own" | "undo";
}

/** Whether the units of a stage are objects. */
export function countsObjects(stage: BackupStage): boolean {
  return stage.endsWith("_objects");
}

/** Whether a stage verifies. */
export function isCheck(stage: BackupStage): boolean {
  return CHECK.some((each) => each === stage);
}

const own = (stage: BackupStage): PlannedStage => ({ stage, of: "own" });
const undo = (stage: BackupStage): PlannedStage => ({ stage, of: "undo" });

/**
 * The stages of each kind of job. A backup that fails its verification continues with `retention`
 * as well. A restore only adds data until `replace_versions`, and cannot fail after it. It leaves
 * the verification of its undo backup to a later job: if the present state is damaged, a restore
 * must still be possible.
 */
export const PLANS: { readonly [K in JobKind]: readonly PlannedStage[] } = {
  run: [...COPY, ...CHECK, "retention" as const].map(own),
  verify: CHECK.map(own),
  restore: [
    ...[...CHECK, "compare_schema" as const].map(own),
    ...COPY.map(undo),
    ...RESTORE.map(own),
  ],
};

/** An unfinished backup. */
export interface Draft {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly tables: readonly TableShape[];
  /** Number of copied tables, and the key of the last copied row of the next one. */
  readonly tablesDone: number;
  readonly afterRow: readonly Value[] | null;
  /** Number of parts of the current table. */
  readonly partsDone: number;
  /** The published version, if any, and the version of the Worker that built it. */
  readonly catalog: BackupManifest["catalog"] | undefined;
  readonly builtBy: string | null;
}

/** State of a job between two steps; JSON. The job's items contain its long lists. */
export interface Checkpoint {
  /** Index of the present stage in the plan. */
  readonly at: number;
  /** Number of finished units of the present stage, and the key of the last; empty if none. */
  readonly done: number;
  readonly after: string;
  readonly draft: Draft | null;
  /** Number of objects that the job has last copied, verified or restored. */
  readonly objects: number;
}

export const FIRST_CHECKPOINT: Checkpoint = {
  at: 0,
  done: 0,
  after: "",
  draft: null,
  objects: 0,
};

/** The inputs of a step. */
export interface StepContext {
  readonly job: BackupJob;
  readonly checkpoint: Checkpoint;
  /** Id of the stage's backup. */
  readonly subject: string;
  readonly items: ItemReader;
}

/** Result of a step. One transaction saves the items and the checkpoint. */
export type StepResult =
  /** The stage continues. */
  | {
      readonly do: "again";
      readonly checkpoint: Checkpoint;
      readonly total: number;
      readonly items: readonly Item[];
    }
  /** The stage is finished. `apply` changes the coordinator's tables in the same transaction. */
  | {
      readonly do: "next";
      readonly checkpoint: Checkpoint;
      readonly apply: () => Partial<BackupJob>;
      readonly items: readonly Item[];
    }
  /** The job has failed. */
  | { readonly do: "fail"; readonly fault: Fault };

export function again(
  checkpoint: Checkpoint,
  total: number,
  items: readonly Item[] = [],
): StepResult {
  return { do: "again", checkpoint, total, items };
}

export function next(
  checkpoint: Checkpoint,
  {
    apply = () => ({}),
    items = [],
  }: { apply?: () => Partial<BackupJob>; items?: readonly Item[] } = {},
): StepResult {
  return { do: "next", checkpoint, apply, items };
}

/** Counts finished units of a stage, which ends with the last of `total`. */
export function countUp(
  checkpoint: Checkpoint,
  more: number,
  total: number,
  {
    after = checkpoint.after,
    items = [],
  }: { readonly after?: string | undefined; readonly items?: readonly Item[] } = {},
): StepResult {
  const changed = { ...checkpoint, done: checkpoint.done + more, after };
  return changed.done < total ? again(changed, total, items) : next(changed, { items });
}

export function failWith(fault: Fault): StepResult {
  return { do: "fail", fault };
}

/** Name of the work that runs these jobs. */
export const BACKUP = "backup";

/** A job with the coordinator's internal fields. */
export type BackupRecord = JobRecord<BackupJob, Checkpoint>;

export function isBackup(record: JobRecord): record is BackupRecord {
  return record.work === BACKUP;
}
