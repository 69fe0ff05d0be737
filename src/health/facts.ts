/** Inputs of the health rules. Each is a value or the reason why it is unreadable. */
import type { BackupTimes } from "../backup/listing.ts";
import type { Run } from "../coordinator/run.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import type { Version } from "../coordinator/versions.ts";
import type { Pause } from "../ingest/pause.ts";
import type { RunError } from "../ingest/report.ts";

export type Reading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** The part of an ended run that the rules read. */
export interface EndedRun extends Pick<Run, "id" | "state" | "outcome" | "mode" | "finished_at"> {
  readonly error: Pick<RunError, "code" | "message"> | null;
  readonly guards: readonly Pick<Run["guards"][number], "guard" | "message">[];
}

/** The part of the coordinator's status that the rules read. */
export interface IngestFacts extends Omit<
  CoordinatorStatus,
  "pause" | "running" | "queued" | "ended" | "current" | "leaseUntil"
> {
  readonly pause: Pick<Pause, "at" | "by" | "note"> | null;
  readonly running: Pick<Run, "id" | "stage" | "heartbeat_at"> | null;
  readonly queued: readonly Pick<Run, "id" | "queued_at">[];
  readonly ended: readonly EndedRun[];
  readonly current: Pick<Version, "generation" | "published_at"> | null;
}

/** The part of the published manifest that the rules read. */
export interface Published {
  readonly generation: number;
  /** RFC 3339. */
  readonly published_at: string;
  /** Date of the airports, `YYYY-MM-DD`; null if not recorded. */
  readonly as_of: string | null;
  /** 0 to 1, by locale. */
  readonly coverage: { readonly [locale: string]: number };
}

/** A replica of the manifest. */
export type ManifestCopy =
  | { readonly state: "present"; readonly published: Published }
  | { readonly state: "missing" | "corrupt" | "unreadable"; readonly detail: string };

/** A copy that differs from the published content. */
export interface DamagedCopy {
  readonly replica: "kv" | "r2";
  readonly sha256: string;
  readonly fault: "missing" | "corrupt";
}

/** Result of reading blobs from both stores: those of a due locale, and suspects. */
export interface CopyCheck {
  /** The checked locale; null if none was due. */
  readonly locale: string | null;
  /** Number of copies that were read and hashed. */
  readonly checked: number;
  readonly damaged: readonly DamagedCopy[];
  /** Reasons why copies were unreadable. */
  readonly unreadable: readonly string[];
}

/** Deliveries to one webhook. */
export interface TargetFacts {
  readonly name: string;
  /** Consecutive evaluations with a failed delivery. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** An admin token. */
export interface TokenFacts {
  readonly id: string;
  /** Milliseconds since 1970; null if it does not expire. */
  readonly expiresAt: number | null;
}

/** Status of the monitor. Times are milliseconds since 1970. */
export interface MonitorFacts {
  /** Time of the first evaluation. */
  readonly since: number;
  /** The previous cron tick; null if there was none. */
  readonly lastTickAt: number | null;
  /** Rows waiting for D1. */
  readonly outboxLength: number;
  readonly targets: readonly TargetFacts[];
  readonly tokens: readonly TokenFacts[];
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
}

export interface Facts {
  readonly ingest: Reading<IngestFacts>;
  readonly catalog: { readonly kv: ManifestCopy; readonly r2: ManifestCopy };
  readonly copies: CopyCheck;
  /** Whether D1 answers. */
  readonly history: Reading<null>;
  readonly backups: Reading<BackupTimes>;
  readonly monitor: MonitorFacts;
}

/** Returns the newer manifest of the two replicas, or undefined if both are missing. */
export function newestPublished({ kv, r2 }: Facts["catalog"]): Published | undefined {
  return [kv, r2]
    .flatMap((copy) => (copy.state === "present" ? [copy.published] : []))
    .toSorted((a, b) => b.generation - a.generation)[0];
}

/** Returns the published manifest, or null if none exists. Unreadable copies make it unreadable. */
export function readPublished(catalog: Facts["catalog"]): Reading<Published | null> {
  const published = newestPublished(catalog);
  if (published !== undefined) return { ok: true, value: published };
  for (const copy of [catalog.kv, catalog.r2])
    if (copy.state === "unreadable" || copy.state === "corrupt")
      return { ok: false, why: copy.detail };
  return { ok: true, value: null };
}
