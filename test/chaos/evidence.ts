import type { Manifest } from "../../src/parts/manifest.ts";
import type { Run } from "../../src/schemas/run.ts";

/** The coordinator's tables. */
export interface CoordinatorTruth {
  /** Open runs and the hundred that ended last. */
  readonly runs: readonly Run[];
  /** Of the retained versions, the oldest first. */
  readonly manifests: readonly Manifest[];
  readonly outbox: number;
  readonly auditOutbox: number;
  readonly isReplicated: boolean;
}

/** A backup job and its request. */
export interface BackupJob {
  readonly key: string | null;
  readonly state: string;
}

/** A backup's content of the ingest. */
export interface BackupContent {
  /** The runs in D1. */
  readonly rows: readonly Run[];
  readonly audit: readonly string[];
  /** Of the retained versions, the oldest first. */
  readonly manifests: readonly Manifest[];
}

/** A restore that succeeded. */
export interface Restored {
  /** The version with the restored catalog; null if none was published. */
  readonly generation: number | null;
  readonly backup: BackupContent;
  /** The backup of the state before. */
  readonly undo: BackupContent;
}

/** Everything that the stores have at one moment. */
export interface StoredState {
  readonly truth: CoordinatorTruth;
  /** The runs in D1. */
  readonly rows: readonly Run[];
  /** The runs of the other installation, in a D1 of its own. */
  readonly otherRows: readonly Run[];
  /** Ids of the audit's entries in D1. */
  readonly audit: readonly string[];
  readonly backupJobs: readonly BackupJob[];
  /** Manifests that R2 keeps, and those that were deleted there, by generation. */
  readonly kept: { readonly [generation: string]: Manifest };
  readonly kv: Manifest | null;
  readonly r2: Manifest | null;
}

/** A success that a client received. */
export interface Served {
  readonly generation: number;
  readonly wanted: string;
  readonly locale: string;
  readonly messageSha256: string;
  /** The first 32 digits of the body's `sha256` in the manifest. */
  readonly tag: string;
  readonly request: string;
}

/** An answer of an older generation than the process had shown before. */
export interface Older {
  readonly generation: number;
  /** The generations that it had shown. */
  readonly held: readonly number[];
  readonly request: string;
}

/** A time in which nothing may be published, in milliseconds since 1970. */
interface AcknowledgedPause {
  readonly from: number;
  readonly to: number;
  /** The generation that was published at its start and at its end, where that was answered. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Operators' requests and answers. */
export interface Operated {
  /** Runs that an enqueue named in its answer. */
  readonly acknowledged: Set<string>;
  /** Runs whose cancellation was answered. */
  readonly cancelled: Set<string>;
  readonly pauses: AcknowledgedPause[];
  rollbackAttempts: number;
  /** Requested takeovers: each may have published the former version again. */
  takeovers: number;
  /** Of each acknowledged rollback: the new generation, and the one it repeats. */
  readonly rollbacks: Map<number, number>;
  /** Each run as it was when it was first seen ended. */
  readonly ends: Map<string, { readonly [field in keyof Run]?: unknown }>;
  readonly restores: Restored[];
}

/** Nothing yet. */
export function nothingOperated(): Operated {
  return {
    acknowledged: new Set(),
    cancelled: new Set(),
    pauses: [],
    rollbackAttempts: 0,
    takeovers: 0,
    rollbacks: new Map(),
    ends: new Map(),
    restores: [],
  };
}

/** A broken invariant. */
export interface Violation {
  readonly invariant: string;
  readonly what: string;
}
