import type { Decision } from "../acceptance/decisions.ts";
import type { LedgerFiles } from "./ledger-files.ts";
import type { Manifest, VersionContent } from "../parts/manifest.ts";
import type { IngestCheckpoint } from "./checkpoint.ts";
import type { Report, RunOutcome, UpstreamFiles } from "../schemas/run-report.ts";
import type { RunMode } from "../schemas/run-words.ts";
import type { Day, EpochMs } from "../platform/units.ts";

/** The archived files of the run `runId`. */
export interface ArchivedCandidate {
  readonly runId: string;
  readonly upstream: UpstreamFiles;
}

/** A decision with its number, which rises. */
export interface NumberedDecision extends Decision {
  readonly seq: number;
}

interface RetainedVersions {
  /** Newest first. */
  versions(): readonly Manifest[];
  findRetained(generation: number): Manifest | undefined;
}

export interface RunContext {
  readonly mode: RunMode;
  readonly forced: boolean;
  readonly source: string;
  /** Date of the files, as the request says it. */
  readonly as_of?: Day | undefined;
  readonly current: Manifest | null;
  readonly retained: RetainedVersions;
  readonly runId: string;
  /** The ledger to compare with; null for the snapshot's. */
  readonly ledger: LedgerFiles | null;
  /** Decisions of operators since that ledger, oldest first. */
  readonly decisions: readonly NumberedDecision[];
  /** Upstream files of the source's last successful run. */
  readonly archived: UpstreamFiles;
  readonly recorded?: readonly EpochMs[];
  /** Archived files to build from; null to fetch from upstream. */
  readonly candidate: ArchivedCandidate | null;
}

export interface EncodeContext
  extends Pick<RunContext, "current" | "retained">, Pick<IngestCheckpoint, "mustStoreAll"> {}

/** Result of a step: another step, or the end, with the version to publish if there is one. */
export interface IngestStepResult {
  readonly next: IngestCheckpoint | null;
  readonly outcome: RunOutcome | null;
  /** Changed fields of the run. */
  readonly patch: Partial<Report>;
  /** Content to record as published in the transaction that commits the last step. */
  readonly publish: VersionContent | null;
}

export function proceed(next: IngestCheckpoint, patch: Partial<Report>): IngestStepResult {
  return { next, outcome: null, patch, publish: null };
}

export function finish(outcome: RunOutcome, patch: Partial<Report> = {}): IngestStepResult {
  return { next: null, outcome, patch, publish: null };
}
