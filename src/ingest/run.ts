import type { Counts } from "../catalog/manifest.ts";
import type { Reject, RejectReason, RepairReason } from "../sources/our-airports.ts";
import type { CityOrigin } from "./build.ts";

/** `queued → running → succeeded | failed`. A run in one of the last two never changes again. */
export type RunState = "queued" | "running" | "succeeded" | "failed";

/** What a succeeded run did: `unchanged` wrote nothing, since the same content is published. */
export type RunOutcome = "published" | "unchanged";

export type RunTrigger = "cron" | "manual" | "bootstrap";

/** `full` stores every blob anew, `incremental` those that the published version lacks. */
export type RunMode = "incremental" | "full";

/** The stages of a run, in order. */
export const STAGES = ["fetch", "build", "encode", "publish", "verify"] as const;
export type Stage = (typeof STAGES)[number];

/** What became of the rows and entities of one list. */
export interface ListCounts {
  readonly seen: number;
  readonly kept: number;
  readonly rejected: number;
}

/** What a run made of its sources. */
export interface Accounting {
  readonly counts: { readonly [L in keyof Counts]: ListCounts };
  /** Upstream rows without an IATA code. */
  readonly filtered: number;
  readonly rejectedByReason: { readonly [R in RejectReason]?: number };
  /** The first rejected rows. */
  readonly rejects: readonly Reject[];
  readonly repaired: { readonly [R in RepairReason]?: number };
  readonly cityOrigins: { readonly [O in CityOrigin]: number };
  /** Subdivisions that the snapshot does not know. */
  readonly newRegions: readonly string[];
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
  readonly requestedBy: string;
  readonly note: string | null;
  /** Times that a step of the run was begun again after a fault. */
  readonly retries: number;
  readonly queuedAt: string;
  readonly startedAt: string | null;
  readonly heartbeatAt: string | null;
  readonly finishedAt: string | null;
  readonly stage: Stage | null;
  /** Units of the encode stage: segments common to all locales, then locales. */
  readonly progress: { readonly done: number; readonly total: number };
  /** SHA-256 (hex) of each archived upstream file. */
  readonly sources: { readonly [file: string]: string };
  readonly accounting: Accounting | null;
  readonly generationBefore: number | null;
  readonly generationAfter: number | null;
  readonly catalogSha256: string | null;
  readonly error: RunError | null;
}
