/** What there is to do about backups, and in which order. Pure: no clock, no I/O. */
import type { Manifest } from "../catalog/manifest.ts";
import type { TableShape, Value } from "../storage/database-copy.ts";
import type { Fault } from "./fault.ts";
import type { BackupTrigger, Part, StoredObject } from "./format.ts";
import type { KeptBackup } from "./retention.ts";
import type { VerdictState } from "./verdict.ts";

export const JOB_KINDS = ["run", "verify", "restore"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `queued → running → succeeded | failed`. The last two never change again. */
export const JOB_STATES = ["queued", "running", "succeeded", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job as operators see it. Times are RFC 3339, UTC, with milliseconds. */
export interface Job {
  /** UUIDv7. */
  readonly id: string;
  readonly kind: JobKind;
  /** The backup that is made, verified or restored. */
  readonly backupId: string;
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  readonly pin: boolean;
  readonly requestedBy: string;
  readonly state: JobState;
  readonly phase: Phase | null;
  /** Units of the present phase: parts, objects or backups. */
  readonly progress: { readonly done: number; readonly total: number };
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  /** What verifying came to. */
  readonly verdict: VerdictState | null;
  /** Of a restore: the backup of what was there before, which undoes it. */
  readonly wayBackId: string | null;
  /** Of a restore: the generation that serves the restored catalog. */
  readonly generation: number | null;
  readonly error: (Fault & { readonly phase: Phase }) | null;
}

/** Whether a job may still change. */
export function isOpenJob({ state }: Job): boolean {
  return state === "queued" || state === "running";
}

export const PHASES = [
  "hold",
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
  "stage_tables",
  "stage_state",
  "replace_state",
  "replace_tables",
  "settle",
] as const;
export type Phase = (typeof PHASES)[number];

/** A phase, and the backup that it is about: the job's own, or the way back of a restore. */
export interface PlannedPhase {
  readonly phase: Phase;
  readonly of: "own" | "way_back";
}

const COPY: readonly Phase[] = [
  "hold",
  "copy_state",
  "copy_tables",
  "copy_objects",
  "write_manifest",
];
const CHECK: readonly Phase[] = ["check_parts", "check_objects", "check_catalog", "rebuild"];

/** Whether a phase verifies. */
export function isCheck(phase: Phase): boolean {
  return CHECK.includes(phase);
}

const own = (phase: Phase): PlannedPhase => ({ phase, of: "own" });
const wayBack = (phase: Phase): PlannedPhase => ({ phase, of: "way_back" });

/**
 * The phases of each kind of job. A restore changes nothing that counts until `replace_state`, and
 * from there on goes through to its end.
 */
export const PLANS: { readonly [K in JobKind]: readonly PlannedPhase[] } = {
  run: [...COPY, ...CHECK, "retention" as const].map(own),
  verify: CHECK.map(own),
  restore: [
    ...[...CHECK, "compare_schema" as const].map(own),
    ...[...COPY, ...CHECK].map(wayBack),
    ...(
      [
        "restore_objects",
        "stage_tables",
        "stage_state",
        "replace_state",
        "replace_tables",
        "settle",
      ] as const
    ).map(own),
  ],
};

/** Whether a phase comes after the point at which a restore has begun to replace what is there. */
export function isBeyondReturn(phase: Phase): boolean {
  return phase === "replace_tables" || phase === "settle";
}

/** Something that the catalog's stores have, to be copied from one place to another. */
export interface Wanted {
  readonly sha256: string;
  readonly kind: "blob" | "source";
}

/** A backup in the making. */
export interface Draft {
  readonly startedAt: string;
  readonly tables: readonly TableShape[];
  /** How many tables have been copied, and the key of the last row that was of the next one. */
  readonly tablesDone: number;
  readonly after: readonly Value[] | null;
  /** Lines of the state that have been copied. */
  readonly linesDone: number;
  readonly parts: readonly Part[];
  readonly versions: readonly Pick<Manifest, "generation" | "catalog_sha256">[];
  readonly builtBy: readonly {
    readonly generation: number;
    readonly workerVersion: string | null;
  }[];
  readonly wanted: readonly Wanted[];
  readonly objects: readonly StoredObject[];
}

/** Where a job stands between two steps; JSON. */
export interface Checkpoint {
  /** Index of the present phase in the plan. */
  readonly at: number;
  /** Units of the present phase that are done. */
  readonly done: number;
  readonly draft: Draft | null;
  /** What a restore has to write to the catalog's stores. */
  readonly wanted: readonly Wanted[];
  /** What retention has seen so far. */
  readonly seen: {
    readonly backups: readonly KeptBackup[];
    readonly objects: readonly string[];
    /** Whether all manifests could be read, so that it is known which objects nobody names. */
    readonly isWhole: boolean;
  };
}

export const FIRST_CHECKPOINT: Checkpoint = {
  at: 0,
  done: 0,
  draft: null,
  wanted: [],
  seen: { backups: [], objects: [], isWhole: true },
};

/** What a step is told. */
export interface StepContext {
  readonly job: Job;
  readonly checkpoint: Checkpoint;
  /** Id of the backup that the phase is about. */
  readonly subject: string;
}

/** What a step came to. */
export type StepResult =
  /** The phase goes on, with more of its units done. */
  | { readonly do: "again"; readonly checkpoint: Checkpoint; readonly total: number }
  /** The phase is over. */
  | { readonly do: "next"; readonly checkpoint: Checkpoint; readonly patch?: Partial<Job> }
  /** Nothing can be done yet. */
  | { readonly do: "wait"; readonly ms: number }
  /** The job has failed. */
  | { readonly do: "fail"; readonly fault: Fault };

export function again(checkpoint: Checkpoint, total: number): StepResult {
  return { do: "again", checkpoint, total };
}

export function next(checkpoint: Checkpoint, patch: Partial<Job> = {}): StepResult {
  return { do: "next", checkpoint, patch };
}

export function failWith(fault: Fault): StepResult {
  return { do: "fail", fault };
}
