import type {
  AirportSet,
  LocaleEntry,
  Manifest,
  SharedParts,
  StoredDiff,
} from "../parts/manifest.ts";
import type { Parsed } from "./accounting.ts";
import type { Content } from "./content.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import type { Stage } from "../schemas/run-words.ts";
import type { Effort } from "../parts/codings.ts";
import type { Form } from "../catalog/encode.ts";
import type { Sha256Hex } from "../platform/units.ts";

/** Raise it with each incompatible change: a running run then restarts after the deployment. */
const CHECKPOINT_FORMAT = 12;

/** State of a run between two steps; JSON. */
export interface IngestCheckpoint {
  /** Afterwards, in the stage `verify`, the coordinator replicates the version. */
  readonly stage: Exclude<Stage, "verify">;
  /** `deployName` of the deployment that made the following fields; null before the first step. */
  readonly madeBy: string | null;
  /** Archived upstream files, and the snapshot. */
  readonly sources: { readonly [file: string]: Sha256Hex };
  readonly dates: Pick<Manifest, "as_of" | "data">;
  /** Set from the build stage on. */
  readonly parsed: Parsed | null;
  /** Set from the guard stage on. */
  readonly content: Content | null;
  /** Generation that the guards compared with; null before the guard stage or if there was none. */
  readonly judgedAgainst: number | null;
  /** Whether the run stores all its blobs: in mode `full`, or if the stores have lost some. */
  readonly mustStoreAll: boolean;
  /** Stored diffs; set from the encode stage on. Each encoded locale adds its regions. */
  readonly diffs: readonly StoredDiff[];
  readonly shared: { readonly [F in Form]?: SharedParts };
  /** Entries of the locales whose blobs are stored. */
  readonly entries: { readonly [locale: string]: LocaleEntry };
}

export const FIRST_INGEST_CHECKPOINT: IngestCheckpoint = {
  stage: "fetch",
  madeBy: null,
  sources: {},
  dates: { as_of: null, data: [] },
  parsed: null,
  content: null,
  judgedAgainst: null,
  mustStoreAll: false,
  diffs: [],
  shared: {},
  entries: {},
};

/** Returns to the parse stage, because a rollback or a decision has changed its inputs. */
export function parseAgain({ madeBy, sources, dates }: IngestCheckpoint): IngestCheckpoint {
  return { ...FIRST_INGEST_CHECKPOINT, stage: "parse", madeBy, sources, dates };
}

export function parsedOf({ parsed }: IngestCheckpoint): Parsed {
  if (parsed === null) throw new Error("nothing was parsed");
  return parsed;
}

export function contentOf({ content }: IngestCheckpoint): Content {
  if (content === null) throw new Error("nothing was built");
  return content;
}

export function sharedOf({ shared: { proto, json } }: IngestCheckpoint): Manifest["shared"] {
  if (proto === undefined || json === undefined) throw new Error("nothing was encoded");
  return { proto, json };
}

/** The settings that determine the output for given upstream files. */
interface Deploy {
  readonly snapshot: Pick<Snapshot, "sha256">;
  readonly locales: readonly string[];
  readonly airportSet: AirportSet;
  readonly effort: Effort;
}

/** Names a deployment. Deployments of one name can continue each other's runs. */
export function deployName({ snapshot, locales, airportSet, effort }: Deploy): string {
  return JSON.stringify([CHECKPOINT_FORMAT, snapshot.sha256, locales, airportSet, effort]);
}

/** Whether the deployment `name` can continue from a checkpoint: parts of two snapshots must not be joined. */
export function isOfDeploy({ stage, madeBy }: IngestCheckpoint, name: string): boolean {
  return stage === "fetch" || madeBy === name;
}
