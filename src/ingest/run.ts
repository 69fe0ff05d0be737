import type { Counts } from "../catalog/manifest.ts";
import type { Reject, RejectReason, RepairReason } from "../sources/our-airports.ts";
import type { ArchivedFile } from "../sources/upstream.ts";
import type { CityOrigin } from "./build.ts";
import type { ChangeSample } from "./change-sample.ts";
import type { GuardTrip } from "./guards.ts";

/**
 * `queued → running → succeeded | failed | cancelled`, `queued → cancelled`, and `skipped` for cron
 * ticks that were not taken. A run in one of the last four never changes again, but for the count
 * of further ticks that were skipped for the same reason.
 */
export const RUN_STATES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** What a succeeded run did: only `published` changed what is served. */
export const RUN_OUTCOMES = ["published", "unchanged", "dry_run"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** Who or what asked for the run. */
export const RUN_TRIGGERS = ["cron", "manual", "resume", "retry"] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/**
 * `full` fetches and stores everything anew, `incremental` only what upstream and the published
 * version do not have already, `dry_run` ends with the guards' verdict.
 */
export const RUN_MODES = ["incremental", "full", "dry_run"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** The stages of a run, in order. */
export const STAGES = ["fetch", "parse", "build", "guard", "encode", "publish", "verify"] as const;
export type Stage = (typeof STAGES)[number];

/** What became of the rows and entities of one list. Changes are those to the published version. */
export interface ListCounts {
  readonly seen: number;
  readonly kept: number;
  readonly rejected: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** An upstream file as it was archived. */
export interface UpstreamFacts extends ArchivedFile {
  readonly bytes: number;
  /** The day that its content is of, `YYYY-MM-DD`; files that were archived without lack it. */
  readonly as_of?: string;
}

/** Archived upstream files by their names. */
export type UpstreamFiles = { readonly [file: string]: UpstreamFacts };

/** What a run made of its upstream rows. */
export interface Accounting {
  /** Upstream rows without an IATA code. */
  readonly filtered: number;
  /** Airports that the setting AIRPORTS leaves out; absent in runs before there was one. */
  readonly unscheduled?: number;
  readonly rejected_by_reason: { readonly [R in RejectReason]?: number };
  readonly repaired: { readonly [R in RepairReason]?: number };
  readonly city_origins: { readonly [O in CityOrigin]: number };
  /** The first subdivisions that the snapshot does not know. */
  readonly new_regions: readonly string[];
}

export interface RunError {
  readonly code: string;
  readonly stage: Stage;
  readonly message: string;
}

/** An ingest run as operators see it. Times are RFC 3339, UTC, with milliseconds. */
export interface Run {
  /** UUIDv7, so that ids ascend with time. */
  readonly id: string;
  readonly state: RunState;
  readonly outcome: RunOutcome | null;
  readonly trigger: RunTrigger;
  readonly mode: RunMode;
  readonly source: string;
  /** Whether the guards against shrinking, change and lost coverage are overridden. */
  readonly forced: boolean;
  readonly requested_by: string;
  readonly note: string | null;
  /** 1, or 2 for the retry of a run that failed by a fault that may pass. */
  readonly attempt: number;
  /** The run that this one retries. */
  readonly parent_run_id: string | null;
  /** The run whose archived upstream files this one works from; null if it asks upstream. */
  readonly candidate_of: string | null;
  /** Times that a step was begun again after a fault. */
  readonly retries: number;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly heartbeat_at: string | null;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  readonly stage: Stage | null;
  /** Units of the encode stage: segments common to all locales, then locales. */
  readonly progress: { readonly done: number; readonly total: number };
  readonly skipped_reason: SkipReason | null;
  /** Ticks that this row stands for; 0 unless `skipped`. */
  readonly skip_count: number;
  readonly upstream: UpstreamFiles;
  readonly counts: { readonly [L in keyof Counts]: ListCounts } | null;
  /** The first changes to the published version; null before it is judged, and where there is none. */
  readonly changes: ChangeSample | null;
  readonly accounting: Accounting | null;
  /** The first rejected rows; `rejects_total` counts them all. */
  readonly rejects: readonly Reject[];
  readonly rejects_total: number;
  /** Guards that tripped: refused, or overridden by force. */
  readonly guards: readonly GuardTrip[];
  readonly generation_before: number | null;
  readonly generation_after: number | null;
  readonly catalog_sha256: string | null;
  readonly error: RunError | null;
  readonly workerVersion: string | null;
}

/** A run as lists show it, without what only its own page shows. */
export type ListedRun = Omit<Run, "changes">;

export function toListed(run: Run): ListedRun {
  const { changes: _, ...listed } = run;
  return listed;
}

/** What is remembered of a run that is over. */
export type EndedRun = Pick<
  Run,
  "id" | "state" | "outcome" | "trigger" | "mode" | "finished_at" | "error" | "guards"
>;

/** Why a cron tick was not taken. */
export const SKIP_REASONS = ["paused", "already_queued", "queue_full"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Whether a run in this state may still change. */
export function isOpen(state: RunState): boolean {
  return state === "queued" || state === "running";
}
