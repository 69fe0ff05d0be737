/** What health is judged by. Each input is a value, or says why there is none. */

export type Reading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** A run that is over, as far as the rules look at it. Times are RFC 3339. */
export interface EndedRun {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly mode: string;
  readonly finished_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly guards: readonly { readonly guard: string; readonly message: string }[];
}

/** What the coordinator says of itself. */
export interface CoordinatorFacts {
  readonly pause: {
    readonly at: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  readonly running: {
    readonly id: string;
    readonly stage: string | null;
    readonly heartbeat_at: string | null;
  } | null;
  /** In the order of their turns. */
  readonly queued: readonly { readonly id: string; readonly queued_at: string }[];
  /** Since when, or from when on, the first of them may start; null if none waits. */
  readonly nextDueAt: string | null;
  /** Newest first. */
  readonly ended: readonly EndedRun[];
  /** The version recorded as published. */
  readonly current: { readonly generation: number; readonly published_at: string } | null;
  /** Whether the stores have been brought to it. */
  readonly replicated: boolean;
  /** Rows that wait for D1. */
  readonly outboxLength: number;
}

export interface IngestFacts extends CoordinatorFacts {
  /** The highest coverage of each locale in the retained versions, 0 to 1. */
  readonly bestCoverage: { readonly [locale: string]: number };
}

/** What is published, as far as the rules look at it. */
export interface Published {
  readonly generation: number;
  /** RFC 3339. */
  readonly published_at: string;
  /** The day that the airports are of, `YYYY-MM-DD`; null if it was not recorded. */
  readonly as_of: string | null;
  /** 0 to 1, by locale. */
  readonly coverage: { readonly [locale: string]: number };
}

/** A replica of the manifest. */
export type ManifestCopy =
  | { readonly state: "present"; readonly published: Published }
  | { readonly state: "missing" | "corrupt" | "unreadable"; readonly detail: string };

/** A copy that is not what was published. */
export interface DamagedCopy {
  readonly replica: "kv" | "r2";
  readonly sha256: string;
  readonly fault: "missing" | "corrupt";
}

/** What came of reading blobs from both stores: one locale's, where it is time, and suspects. */
export interface CopyCheck {
  /** The locale whose turn it was; null if it was no locale's. */
  readonly locale: string | null;
  /** Copies that were read and hashed. */
  readonly checked: number;
  readonly damaged: readonly DamagedCopy[];
  /** Why copies could not be read. */
  readonly unreadable: readonly string[];
}

/** The newest backups; null where there is none. Times are RFC 3339. */
export interface BackupFacts {
  /** When the newest complete backup was finished. */
  readonly newestFinishedAt: string | null;
  /** When the newest backup that has passed its verification was finished. */
  readonly newestVerifiedAt: string | null;
}

/** Deliveries to one webhook. */
export interface TargetFacts {
  readonly name: string;
  /** Evaluations in a row at which a message could not be delivered. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** What the monitor knows of itself. Times are milliseconds since 1970. */
export interface MonitorFacts {
  /** When it evaluated for the first time. */
  readonly since: number;
  /** The cron tick before the present one; null if there was none. */
  readonly lastTickAt: number | null;
  /** Rows that wait for D1. */
  readonly outboxLength: number;
  readonly targets: readonly TargetFacts[];
}

export interface Facts {
  readonly ingest: Reading<IngestFacts>;
  readonly catalog: { readonly kv: ManifestCopy; readonly r2: ManifestCopy };
  readonly copies: CopyCheck;
  /** Whether D1 answers. */
  readonly history: Reading<null>;
  readonly backups: Reading<BackupFacts>;
  readonly monitor: MonitorFacts;
}

/** The newest manifest of the two replicas; undefined if neither has one. */
export function newestPublished({ kv, r2 }: Facts["catalog"]): Published | undefined {
  return [kv, r2]
    .flatMap((copy) => (copy.state === "present" ? [copy.published] : []))
    .toSorted((a, b) => b.generation - a.generation)[0];
}

/** What is published, null if nothing is; unread where a copy is there and cannot be read. */
export function readPublished(catalog: Facts["catalog"]): Reading<Published | null> {
  const published = newestPublished(catalog);
  if (published !== undefined) return { ok: true, value: published };
  for (const copy of [catalog.kv, catalog.r2])
    if (copy.state === "unreadable" || copy.state === "corrupt")
      return { ok: false, why: copy.detail };
  return { ok: true, value: null };
}
