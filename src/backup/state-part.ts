/** The coordinator's state in a backup: a line with pause and ledger, and one for each version. Pure. */
import * as z from "zod";
import { FORMER_FORMAT } from "../parts/former-manifest.ts";
import { blobsOf, type Manifest, neededBlobs } from "../parts/manifest.ts";
import { type DeepReadonly, hexHash, timestamp } from "../schemas/fields.ts";
import { manifestSchema } from "../parts/manifest-schema.ts";
import { heldSummary } from "../schemas/run-report.ts";
import { type Fault, fault } from "../schemas/backup-fault.ts";
import type { Sha256Hex } from "../platform/units.ts";

export interface SavedState {
  readonly pause: SavedPause | null;
  /** The ledger of the last run; null if the published version has none. */
  readonly ledger: SavedLedger | null;
  readonly versions: readonly Manifest[];
}

export type ReadState =
  { readonly ok: true; readonly state: SavedState } | { readonly ok: false; readonly fault: Fault };

/** Not the schema of answers: backups stay readable when that changes. */
const savedPause = z.strictObject({
  at: timestamp,
  by: z.string(),
  note: z.string().nullable(),
  until: timestamp.nullable(),
});
export type SavedPause = DeepReadonly<z.output<typeof savedPause>>;

export const savedLedger = z.strictObject({
  accepted: hexHash,
  held: hexHash,
  held_changes: heldSummary,
});
export type SavedLedger = DeepReadonly<z.output<typeof savedLedger>>;

const firstLine = z.strictObject({
  pause: savedPause.nullable(),
  ledger: savedLedger.nullable(),
});
const versionLine = z.strictObject({ version: manifestSchema });
const versionFormat = z.object({ version: z.object({ format: z.number() }) });

export function stateLines({ pause, ledger, versions }: SavedState): string[] {
  const stored = versions.map((version) => JSON.stringify({ version }));
  return [JSON.stringify({ pause, ledger }), ...stored];
}

/** Decodes the output of `stateLines`; refuses anything else. */
export function readStateLines(lines: readonly string[]): ReadState {
  try {
    const [first, ...others] = lines.map((line): unknown => JSON.parse(line));
    const former = others.find((line) => versionFormat.parse(line).version.format < FORMER_FORMAT);
    if (former !== undefined) return { ok: false, fault: TOO_OLD };
    const { pause, ledger } = firstLine.parse(first);
    const versions = others.map((line) => versionLine.parse(line).version);
    const generations = new Set(versions.map(({ generation }) => generation));
    if (generations.size < versions.length)
      throw new Error("two versions have the same generation");
    return {
      ok: true,
      state: { pause, ledger, versions: versions.toSorted((a, b) => b.generation - a.generation) },
    };
  } catch (error) {
    const message = `the coordinator's state: ${String(error)}`;
    return { ok: false, fault: fault("state_invalid", message) };
  }
}

const TOO_OLD = fault(
  "former_format",
  "the backup was made by an earlier release, whose manifests this Worker does not read; restore it in an installation of its own, with the Worker that its manifest.json names as worker_version",
);

/**
 * Selects the versions whose bodies are in the backup. A version that lacks another blob loses its
 * diffs and names, without which clients fetch the whole body.
 */
export function wholeVersions(
  versions: readonly Manifest[],
  missing: readonly Sha256Hex[],
): Manifest[] {
  const lost = new Set(missing);
  return versions.flatMap((version) => {
    const blobs = neededBlobs(version).filter(({ sha256 }) => lost.has(sha256));
    if (blobs.some(({ isOfBody }) => isOfBody)) return [];
    return blobs.length > 0 ? withBodiesOnly(version) : version;
  });
}

function withBodiesOnly(version: Manifest): Manifest {
  const locales = Object.entries(version.locales).map(([locale, { coverage, parts }]) => [
    locale,
    { coverage, parts },
  ]);
  return { ...version, diffs: [], locales: Object.fromEntries(locales) };
}

export interface StoredFile {
  readonly sha256: Sha256Hex;
  readonly kind: "blob" | "source";
}

/** Lists the stored files that a state names, each once, always in the same order. */
export function storedFiles({
  versions,
  ledger,
}: Pick<SavedState, "versions" | "ledger">): StoredFile[] {
  const blobs = blobsOf(...versions);
  const ofLedger = ledger === null ? [] : [ledger.accepted, ledger.held];
  const sources = new Set([...versions.flatMap(upstreamOf), ...ofLedger]);
  return [
    ...[...blobs].map((sha256) => ({ sha256, kind: "blob" }) as const),
    ...[...sources].map((sha256) => ({ sha256, kind: "source" }) as const),
  ];
}

/** Lists a version's upstream files, without the snapshot in the Worker. */
export function upstreamOf({ sources }: Pick<Manifest, "sources">): Sha256Hex[] {
  return Object.entries(sources).flatMap(([file, sha256]) => (file === "snapshot" ? [] : [sha256]));
}
