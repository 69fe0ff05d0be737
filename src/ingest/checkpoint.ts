import type { LocaleEntry, Manifest } from "../catalog/manifest.ts";
import type { CommonPiece } from "./bodies.ts";
import type { Content } from "./content.ts";
import type { Run, RunMode, RunOutcome, Stage, UpstreamFiles } from "./run.ts";

/** Raised when code reads checkpoints otherwise: a run under way then begins anew after the deploy. */
const CHECKPOINT_FORMAT = 2;

/** Where a run stands between two steps; JSON. */
export interface Checkpoint {
  readonly format: number;
  readonly stage: Stage;
  /** SHA-256 (hex) of each archived upstream file, and of the snapshot. */
  readonly sources: { readonly [file: string]: string };
  /** From the guard stage on. */
  readonly content: Content | null;
  /** The pieces of common segments that have been stored, for each of `commonUnits`. */
  readonly common: readonly (readonly CommonPiece[])[];
  /** Entries of the locales whose blobs have been stored. */
  readonly entries: { readonly [locale: string]: LocaleEntry };
}

export const FIRST_CHECKPOINT: Checkpoint = {
  format: CHECKPOINT_FORMAT,
  stage: "fetch",
  sources: {},
  content: null,
  common: [],
  entries: {},
};

/**
 * Whether what a run has done so far is of use to this code, with this snapshot: what was built of
 * one snapshot must not be joined to what is built of another. Once a version is recorded, only the
 * stores are to be brought to it.
 */
export function isOfThisDeploy(
  { format, stage, sources }: Checkpoint,
  snapshotSha256: string,
): boolean {
  if (stage === "fetch" || stage === "verify") return true;
  return format === CHECKPOINT_FORMAT && sources["snapshot"] === snapshotSha256;
}

/** What a step is told of the world. */
export interface RunContext {
  readonly mode: RunMode;
  readonly forced: boolean;
  readonly source: string;
  /** The version published last. */
  readonly current: Manifest | null;
  /** Upstream files of the last success, if they are of the same source. */
  readonly archived: UpstreamFiles;
  /** Called with the hashes of blobs before they are stored, so that none is stored unseen. */
  readonly noteBlobs: (sha256s: readonly string[]) => void;
}

/** What a step came to: another step, a version to publish and another step, or the end. */
export interface StepResult {
  readonly next: Checkpoint | null;
  readonly outcome: RunOutcome | null;
  /** What changes in the run as operators see it. */
  readonly patch: Partial<Run>;
  /** To be recorded as published, together with the step. */
  readonly publish: Manifest | null;
}

/** Another step follows. */
export function proceed(next: Checkpoint, patch: Partial<Run>): StepResult {
  return { next, outcome: null, patch, publish: null };
}

/** The run has succeeded. */
export function finish(outcome: RunOutcome, patch: Partial<Run> = {}): StepResult {
  return { next: null, outcome, patch, publish: null };
}
