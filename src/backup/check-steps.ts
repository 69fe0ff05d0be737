/** The stages that verify a backup. They read all of it and change only its verdict. */
import { node } from "../platform/node.ts";
import { timeText } from "../platform/time.ts";
import { Buffer } from "node:buffer";
import { inflateSegment, sha256Hex, shortHash } from "../catalog/bytes.ts";
import { type Body, type Manifest, type Segment } from "../catalog/manifest.ts";
import { type Fault, fault } from "../schemas/backup-fault.ts";
import { type BackupManifest, parseManifest, unpackPart } from "./format.ts";
import {
  type BackupCheckpoint,
  countUp,
  failWith,
  nextStage,
  type StepContext,
  type StepDependencies,
  type BackupStepResult,
} from "./step.ts";
import {
  mapConcurrently,
  OBJECTS_AT_A_TIME,
  OBJECTS_PER_STEP,
} from "../platform/map-concurrently.ts";
import { readState } from "./read-backups.ts";
import { storedFiles, upstreamOf, wholeVersions } from "./state-part.ts";
import type { Verdict } from "./verdict.ts";

const PARTS_CHECKED_PER_STEP = 10;

/** A stage that verifies. Its fault fails the job and is the verdict. */
type Check = (
  deps: StepDependencies,
  manifest: BackupManifest,
  checkpoint: BackupCheckpoint,
) => Promise<BackupStepResult | Fault>;

/** Makes the step of a check, which first reads the manifest. */
function stepOf(check: Check) {
  return async (
    deps: StepDependencies,
    { job: { backup_id: id }, checkpoint }: StepContext,
  ): Promise<BackupStepResult> => {
    const parsed = parseManifest(await deps.backups.readManifest(id), id);
    const result = parsed.ok ? await check(deps, parsed.manifest, checkpoint) : parsed.fault;
    if ("do" in result) return result;
    const { code, message } = result;
    if (code !== "manifest_missing" && code !== "former_format")
      await writeVerdict(deps, id, { state: "failed", message });
    return failWith(result);
  };
}

/** Reads, hashes and decodes some parts. */
export const checkParts = stepOf(async ({ backups }, { id, parts }, checkpoint) => {
  const due = parts.slice(checkpoint.done, checkpoint.done + PARTS_CHECKED_PER_STEP);
  for (const part of due) {
    const unpacked = unpackPart(part, await backups.readPart(id, part.name));
    if (!unpacked.ok) return unpacked.fault;
  }
  return countUp(checkpoint, due.length, parts.length);
});

/** Reads and hashes some objects. */
export const checkObjects = stepOf(async (deps, { objects }, checkpoint) => {
  const due = objects.slice(checkpoint.done, checkpoint.done + OBJECTS_PER_STEP);
  const faults = await mapConcurrently(due, OBJECTS_AT_A_TIME, ({ sha256 }) =>
    findFault(deps, sha256),
  );
  const found = faults.find((candidate) => candidate !== undefined);
  return found ?? countUp(checkpoint, due.length, objects.length);
});

async function findFault(
  { backups }: StepDependencies,
  sha256: string,
): Promise<Fault | undefined> {
  const bytes = await backups.readObject(sha256);
  if (bytes === null) return fault("object_missing", `the object ${shortHash(sha256)} is missing`);
  if (sha256Hex(bytes) === sha256) return undefined;
  return fault(
    "object_damaged",
    `the object ${shortHash(sha256)} is damaged: its bytes have another hash`,
  );
}

/**
 * Checks that the backup is consistent, and writes the verdict: its manifest lists every object of
 * its versions, apart from `missing`, and the blobs of the published version have the hashes in its
 * manifest.
 */
export const checkCatalog = stepOf(async (deps, manifest, checkpoint) => {
  const read = await readState(deps.backups, manifest);
  if (!read.ok) return read.fault;
  const { versions } = read.state;
  const known = new Set([...manifest.objects.map(({ sha256 }) => sha256), ...manifest.missing]);
  const unknown = storedFiles(read.state).find(({ sha256 }) => !known.has(sha256));
  if (unknown !== undefined)
    return fault(
      "catalog_mismatch",
      `manifest.json does not list the object ${shortHash(unknown.sha256)}`,
    );
  const [current] = versions;
  if (current !== undefined && wholeVersions([current], manifest.missing).length === 0)
    return fault(
      "object_missing",
      "no store had every blob of the published version when the backup was made; a full ingest run stores them again",
    );
  const named = manifest.catalog;
  const isNamed =
    current?.generation === named?.generation && current?.catalog_sha256 === named?.catalog_sha256;
  if (!isNamed || (current !== undefined && !(await isWhole(deps, current))))
    return fault("catalog_mismatch", "the blobs do not make up the catalog of manifest.json");
  const lacksUpstream =
    current && upstreamOf(current).some((sha256) => manifest.missing.includes(sha256));
  const message = lacksUpstream ? `${INTACT} ${UPSTREAM_MISSING}` : INTACT;
  await writeVerdict(deps, manifest.id, { state: "verified", message });
  return nextStage(checkpoint, () => ({ verdict: "verified" }));
});

const INTACT = "Every byte is intact.";
const UPSTREAM_MISSING =
  "The archive lacked upstream files of the published version when the backup was made.";

/** Whether the blobs of a version have the hashes of its messages, and these the catalog's hash. */
async function isWhole(deps: StepDependencies, { locales, catalog_sha256 }: Manifest) {
  const bodies = Object.values(locales).flatMap(({ bodies: { proto } }) => proto.identity ?? []);
  const read = segmentReader(deps, bodies);
  for (const {
    sha256,
    bodies: { proto },
  } of Object.values(locales)) {
    const hash = node.crypto.createHash("sha256");
    if (proto.identity === undefined) return false;
    for (const segment of proto.identity.segments) hash.update(await read(segment));
    if (hash.digest("hex") !== sha256) return false;
  }
  const lines = Object.entries(locales).map(([locale, { sha256 }]) => `${locale} ${sha256}\n`);
  return sha256Hex(...lines) === catalog_sha256;
}

/** Reads segments of some bodies. Caches the segments that several bodies share. */
function segmentReader({ backups }: StepDependencies, bodies: readonly Body[]) {
  const uses = new Map<string, number>();
  for (const { segments } of bodies)
    for (const segment of segments)
      if ("blob" in segment) uses.set(segment.blob, (uses.get(segment.blob) ?? 0) + 1);
  const shared = new Map<string, Uint8Array>();
  return async (segment: Segment): Promise<Uint8Array> => {
    if ("inline" in segment) return Buffer.from(segment.inline, "base64");
    const { blob, isDeflated } = segment;
    const bytes = shared.get(blob) ?? (await backups.readObject(blob));
    if (bytes === null) throw new Error(`the object ${blob} is gone`);
    if ((uses.get(blob) ?? 0) > 1) shared.set(blob, bytes);
    if (!isDeflated) return bytes;
    // Without what it should inflate to, the message has another hash.
    return inflateSegment(bytes, segment.bytes) ?? new Uint8Array();
  };
}

async function writeVerdict(
  { backups, now }: StepDependencies,
  id: string,
  judged: Omit<Verdict, "at">,
): Promise<void> {
  const verdict: Verdict = { ...judged, at: timeText(now()) };
  await backups.writeNote(id, "verdict", JSON.stringify(verdict));
}
