/** Backup jobs, the plans of their stages, and the inputs and results of their steps. */
import { z } from "zod";
import { count, type DeepReadonly, timestamp } from "../catalog/fields.ts";
import type { Manifest } from "../catalog/manifest.ts";
import type { Log } from "../log.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { DatabaseCopy, TableShape, Value } from "../storage/database-copy.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { type Fault, FAULT_CODES } from "./fault.ts";
import { BACKUP_TRIGGERS, type BackupManifest, type Part } from "./format.ts";
import { VERDICT_STATES } from "./verdict.ts";

export const JOB_KINDS = ["run", "verify", "restore"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued → running → succeeded | failed`, or `queued → cancelled`. The last three are final. */
export const JOB_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

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
      description: "Of a verification or a restore: what it found out about the backup.",
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
        code: z.enum([...FAULT_CODES, "predecessor_failed"]),
        message: z.string(),
        stage: z.enum(BACKUP_STAGES).nullable(),
      })
      .nullable(),
  })
  .meta({ id: "BackupJob", description: "A job that makes, verifies or restores a backup." });

export type BackupJob = DeepReadonly<z.output<typeof jobSchema>>;

/** Whether a stage verifies. */
export function isCheck(stage: BackupStage): boolean {
  return CHECK.some((each) => each === stage);
}

/**
 * The stages of each kind of job. A restore only adds data until `replace_versions`, and cannot
 * fail after it.
 */
export const PLANS: { readonly [K in JobKind]: readonly BackupStage[] } = {
  run: [...COPY, "retention"],
  verify: CHECK,
  restore: [...CHECK, "compare_schema", ...RESTORE],
};

/** A table, with its rows and parts in the backup so far. */
interface CopiedTable extends TableShape {
  readonly rows: number;
  readonly parts: number;
}

/** An unfinished backup. */
export interface Draft {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly state: Part;
  readonly tables: readonly CopiedTable[];
  /** Number of copied tables, and the key of the last copied row of the next one. */
  readonly tablesDone: number;
  readonly afterRow: readonly Value[] | null;
  /** The published version, if any, and the version of the Worker that built it. */
  readonly catalog: BackupManifest["catalog"];
  readonly builtBy: string | null;
}

/** State of a job between two steps; JSON. Each step makes the lists that it needs anew. */
export interface Checkpoint {
  /** Index of the present stage in the plan. */
  readonly at: number;
  /** Number of finished units of the present stage. */
  readonly done: number;
  readonly draft: Draft | null;
}

export const FIRST_CHECKPOINT: Checkpoint = { at: 0, done: 0, draft: null };

/** The dependencies of steps. A store throws if it fails. */
/** The tables of the coordinator that a backup saves and a restore replaces. */
export interface CoordinatorTables {
  versions(): Manifest[];
  currentVersion(): Manifest | null;
  /** Worker version that built each catalog, by the catalog's hash. */
  builders(): { readonly [catalog_sha256: string]: string | null };
  pause(): SavedPause | null;
  setPause(pause: SavedPause): void;
  replaceVersions(manifests: readonly Manifest[]): void;
  addVersion(manifest: Manifest): void;
  setReplicated(generation: number): void;
}

/** A pause of the ingestion. Times are RFC 3339. */
export interface SavedPause {
  readonly at: string;
  readonly by: string;
  readonly note: string | null;
  readonly until: string | null;
}

export interface StepDependencies {
  readonly backups: BackupStore;
  readonly database: DatabaseCopy;
  readonly coordinator: CoordinatorTables;
  /** Ids of the backups that open jobs make or read. */
  readonly openBackups: () => readonly string[];
  readonly catalog: CatalogStore;
  readonly archive: SourceArchive;
  readonly snapshot: Snapshot;
  readonly workerVersion: string | null;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
}

/** The inputs of a step. */
export interface StepContext {
  readonly job: BackupJob;
  readonly checkpoint: Checkpoint;
}

/** Result of a step. */
export type StepResult =
  /** The stage continues. */
  | {
      readonly do: "again";
      readonly checkpoint: Checkpoint;
      readonly total: number;
    }
  /** The stage is finished. `apply` changes the coordinator's tables in the same transaction. */
  | {
      readonly do: "next";
      readonly checkpoint: Checkpoint;
      readonly apply: () => Partial<BackupJob>;
    }
  /** The job has failed. */
  | { readonly do: "fail"; readonly fault: Fault };

export function again(checkpoint: Checkpoint, total: number): StepResult {
  return { do: "again", checkpoint, total };
}

export function next(
  checkpoint: Checkpoint,
  apply: () => Partial<BackupJob> = () => ({}),
): StepResult {
  return { do: "next", checkpoint, apply };
}

/** Counts finished units of a stage, which ends with the last of `total`. */
export function countUp(checkpoint: Checkpoint, more: number, total: number): StepResult {
  const changed = { ...checkpoint, done: checkpoint.done + more };
  return changed.done < total ? again(changed, total) : next(changed);
}

export function failWith(fault: Fault): StepResult {
  return { do: "fail", fault };
}
