/** What there is to do about backups, and in which order. Pure: no clock, no I/O. */
import { z } from "zod";
import { count, type DeepReadonly, timestamp } from "../catalog/fields.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import type { TableShape, Value } from "../storage/database-copy.ts";
import { type Fault, FAULT_CODES } from "./fault.ts";
import { BACKUP_TRIGGERS, type BackupManifest } from "./format.ts";
import type { Item, ItemReader } from "./job-items.ts";
import { VERDICT_STATES } from "./verdict.ts";

export const JOB_KINDS = ["run", "verify", "restore"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued → running → succeeded | failed`. The last two never change again. */
export const JOB_STATES = ["queued", "running", "succeeded", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

export const BACKUP_STAGES = [
  "copy_state",
  "copy_tables",
  "copy_objects",
  "write_manifest",
  "check_parts",
  "check_objects",
  "check_catalog",
  "rebuild",
  "retention",
  "compare_schema",
  "restore_objects",
  "restore_tables",
  "replace_versions",
  "settle",
] as const;
export type BackupStage = (typeof BACKUP_STAGES)[number];

/** A job, as the API answers it. */
export const jobSchema = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(JOB_KINDS),
    backup_id: z.uuid().meta({ description: "The backup that is made, verified or restored." }),
    trigger: z.enum(BACKUP_TRIGGERS),
    note: z.string().nullable(),
    pin: z.boolean(),
    requested_by: z.string(),
    state: z.enum(JOB_STATES),
    stage: z.enum(BACKUP_STAGES).nullable(),
    progress: z.strictObject({ done: count, total: count }).meta({
      description: "Of the present stage; `total` is 0 where it is not known.",
    }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
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
      .strictObject({
        code: z.enum(FAULT_CODES),
        message: z.string(),
        stage: z.enum(BACKUP_STAGES),
      })
      .nullable(),
  })
  .meta({ id: "BackupJob", description: "Making, verifying or restoring a backup." });

export type BackupJob = DeepReadonly<z.output<typeof jobSchema>>;

/** A stage, and the backup that it is about: the job's own, or the way back of a restore. */
export interface PlannedStage {
  readonly stage: BackupStage;
  readonly of: "own" | "way_back";
}

const COPY: readonly BackupStage[] = [
  "copy_state",
  "copy_tables",
  "copy_objects",
  "write_manifest",
];
const CHECK: readonly BackupStage[] = ["check_parts", "check_objects", "check_catalog", "rebuild"];

/** Whether a stage verifies. */
export function isCheck(stage: BackupStage): boolean {
  return CHECK.includes(stage);
}

const own = (stage: BackupStage): PlannedStage => ({ stage, of: "own" });
const wayBack = (stage: BackupStage): PlannedStage => ({ stage, of: "way_back" });

/**
 * The stages of each kind of job. A backup that does not prove good goes on with `retention` too. A
 * restore only adds until `replace_versions`, and from there on goes through to its end. It does not
 * verify its way back: where the present is damaged, restoring is the way out.
 */
export const PLANS: { readonly [K in JobKind]: readonly PlannedStage[] } = {
  run: [...COPY, ...CHECK, "retention" as const].map(own),
  verify: CHECK.map(own),
  restore: [
    ...[...CHECK, "compare_schema" as const].map(own),
    ...COPY.map(wayBack),
    ...(["restore_objects", "restore_tables", "replace_versions", "settle"] as const).map(own),
  ],
};

/** A backup in the making. */
export interface Draft {
  readonly tables: readonly TableShape[];
  /** How many tables have been copied, and the key of the last row that was of the next one. */
  readonly tablesDone: number;
  readonly afterRow: readonly Value[] | null;
  /** Parts that there are of the table that is being copied. */
  readonly partsDone: number;
  /** The version that is published, if any, and the version of the Worker that built it. */
  readonly catalog: BackupManifest["catalog"] | undefined;
  readonly builtBy: string | null;
}

/** Where a job stands between two steps; JSON. What may be long is in the job's items. */
export interface Checkpoint {
  /** Index of the present stage in the plan. */
  readonly at: number;
  /** Units of the present stage that are done, and the key of the last; empty before the first. */
  readonly done: number;
  readonly after: string;
  readonly draft: Draft | null;
}

export const FIRST_CHECKPOINT: Checkpoint = { at: 0, done: 0, after: "", draft: null };

/** What a step is told. */
export interface StepContext {
  readonly job: BackupJob;
  readonly checkpoint: Checkpoint;
  /** Id of the backup that the stage is about. */
  readonly subject: string;
  readonly items: ItemReader;
}

/** What a step came to. Items are added to the job's with the checkpoint, or not at all. */
export type StepResult =
  /** The stage goes on, with more of its units done. */
  | {
      readonly do: "again";
      readonly checkpoint: Checkpoint;
      readonly total: number;
      readonly items: readonly Item[];
    }
  /** The stage is over, and `apply` changes the coordinator's tables together with that. */
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

export function failWith(fault: Fault): StepResult {
  return { do: "fail", fault };
}

/** Name of the work that does these jobs. */
export const BACKUP = "backup";

/** A job with what only the coordinator knows of it. */
export type BackupRecord = JobRecord<BackupJob, Checkpoint>;

export function isBackup(record: JobRecord): record is BackupRecord {
  return record.work === BACKUP;
}
