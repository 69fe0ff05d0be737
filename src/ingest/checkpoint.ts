import type { AirportSet, LocaleEntry, Manifest } from "../catalog/manifest.ts";
import type { StoredSegment } from "./bodies.ts";
import type { ArchivedCandidate } from "./candidate.ts";
import type { Content } from "./content.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import type { Run, RunMode, RunOutcome, Stage, UpstreamFiles } from "./run.ts";
import type { Effort } from "./segment-coders.ts";

/** Raised when code reads checkpoints otherwise: a run under way then begins anew after the deploy. */
const CHECKPOINT_FORMAT = 4;

/** Where a run stands between two steps; JSON. */
export interface Checkpoint {
  readonly stage: Stage;
  /** `deployName` of the deploy that made what follows; null before the first step. */
  readonly madeBy: string | null;
  /** SHA-256 (hex) of each archived upstream file, and of the snapshot. */
  readonly sources: { readonly [file: string]: string };
  /** Of which day they are. */
  readonly dates: Pick<Manifest, "as_of" | "data">;
  /** From the guard stage on. */
  readonly content: Content | null;
  /** The generation that the guards compared the candidate with; null before the first, and before them. */
  readonly judgedAgainst: number | null;
  /** The common segments that have been stored, in the order of `commonUnits`. */
  readonly common: readonly StoredSegment[];
  /** Entries of the locales whose blobs have been stored. */
  readonly entries: { readonly [locale: string]: LocaleEntry };
}

export const FIRST_CHECKPOINT: Checkpoint = {
  stage: "fetch",
  madeBy: null,
  sources: {},
  dates: { as_of: null, data: [] },
  content: null,
  judgedAgainst: null,
  common: [],
  entries: {},
};

/** What was built, from the guard stage on. */
export function contentOf({ content }: Checkpoint): Content {
  if (content === null) throw new Error("nothing was built");
  return content;
}

/** What decides the bytes that a deploy makes of the same upstream bytes. */
export interface Deploy {
  readonly snapshot: Pick<Snapshot, "sha256">;
  readonly locales: readonly string[];
  readonly airportSet: AirportSet;
  readonly effort: Effort;
}

/** What a deploy is called whose steps can be continued: by this code, with what decides the bytes. */
export function deployName({ snapshot, locales, airportSet, effort }: Deploy): string {
  return JSON.stringify([CHECKPOINT_FORMAT, snapshot.sha256, locales, airportSet, effort]);
}

/**
 * Whether what a run has done so far is of use to a deploy: what was built of one snapshot must not
 * be joined to what is built of another. Once a version is recorded, only the stores are to be
 * brought to it.
 */
export function isOfDeploy({ stage, madeBy }: Checkpoint, name: string): boolean {
  return stage === "fetch" || stage === "verify" || madeBy === name;
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
  /** Archived files to work from instead of asking upstream; null to ask it. */
  readonly candidate: ArchivedCandidate | null;
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
