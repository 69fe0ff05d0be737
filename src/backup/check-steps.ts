/** The stages that verify a backup. They read all of it and change only its verdict. */
import { timeText } from "../platform/time.ts";
import { concatenate, releaseBuffer, sha256Hex, shortHash } from "../catalog/bytes.ts";
import { FORMS } from "../catalog/encode.ts";
import { crc32Of, decompressWhole } from "../parts/codings.ts";
import { type Body, composeBody, type Representation } from "../parts/compose.ts";
import { type Coding, CODINGS, type Manifest, messageSha256 } from "../parts/manifest.ts";
import { sentBytes } from "../storage/catalog-store.ts";
import type { Sha256Hex } from "../platform/units.ts";
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

export const checkParts = stepOf(async ({ backups }, { id, parts }, checkpoint) => {
  const due = parts.slice(checkpoint.done, checkpoint.done + PARTS_CHECKED_PER_STEP);
  for (const part of due) {
    const unpacked = unpackPart(part, await backups.readPart(id, part.name));
    if (!unpacked.ok) return unpacked.fault;
  }
  return countUp(checkpoint, due.length, parts.length);
});

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
  sha256: Sha256Hex,
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
 * its versions, apart from `missing`, and the blobs of the published version are what its manifest says.
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

/**
 * Whether a version's blobs match its manifest (lengths, hashes, checksums), and its messages the
 * content's hash.
 */
async function isWhole(deps: StepDependencies, version: Manifest): Promise<boolean> {
  const shared = Object.values(version.shared).flatMap((parts) => Object.values(parts));
  const read = objectReader(deps, new Set(shared.map(({ sha256 }) => sha256)));
  for (const locale of Object.keys(version.locales))
    if (!(await hasItsHashes(version, locale, read))) return false;
  const entries = Object.entries(version.locales);
  const lines = entries.map(([locale, entry]) => `${locale} ${messageSha256(entry)}\n`);
  return sha256Hex(...lines) === version.catalog_sha256;
}

async function hasItsHashes(
  version: Manifest,
  locale: string,
  read: ReturnType<typeof objectReader>,
): Promise<boolean> {
  const bytesOf = async (representation: Representation, coding: Coding) => {
    const body = composeBody(version, { locale, representation, coding });
    return { sha256: body?.sha256, pieces: body && (await mapInTurn(body.pieces, read)) };
  };
  for (const form of FORMS) {
    const own = version.locales[locale]?.parts[form];
    for (const coding of CODINGS) {
      const { sha256, pieces } = await bytesOf(form, coding);
      if (pieces !== undefined && sha256Hex(...pieces) !== sha256) return false;
      if (coding === "identity" && crc32Of(pieces ?? []) !== own?.crc32.message) return false;
    }
    const framed = form === "proto" ? "grpc-web" : "grpc-web-json";
    const { pieces } = await bytesOf(framed, "identity");
    if (crc32Of(pieces ?? []) !== own?.crc32.framed) return false;
    // Only in brotli, a body in a frame has another shared part than a message.
    const { pieces: coded } = await bytesOf(framed, "br");
    if (coded !== undefined && crc32OfBrotli(coded) !== own?.crc32.framed) return false;
  }
  return true;
}

/** Undefined for bytes that are not in brotli. */
function crc32OfBrotli(pieces: readonly Uint8Array[]): number | undefined {
  const bytes = decompressWhole(concatenate(pieces));
  const checksum = bytes && crc32Of([bytes]);
  if (bytes !== undefined) releaseBuffer(bytes);
  return checksum;
}

async function mapInTurn<T, U>(items: readonly T[], map: (item: T) => Promise<U>): Promise<U[]> {
  const mapped: U[] = [];
  for (const item of items) mapped.push(await map(item));
  return mapped;
}

/** Reads pieces of bodies. Keeps the shared ones, which are the same in every locale, and the last other. */
function objectReader({ backups }: StepDependencies, shared: ReadonlySet<Sha256Hex>) {
  const known = new Map<Sha256Hex, Uint8Array>();
  return async (piece: Body["pieces"][number]): Promise<Uint8Array> => {
    if (piece instanceof Uint8Array) return piece;
    const { sha256 } = piece;
    const bytes = known.get(sha256) ?? (await backups.readObject(sha256));
    if (bytes === null) throw new Error(`the object ${sha256} is gone`);
    if (!known.has(sha256) && !shared.has(sha256))
      for (const other of known.keys()) if (!shared.has(other)) known.delete(other);
    known.set(sha256, bytes);
    const sent = sentBytes(piece, bytes);
    // Bytes of another length have another hash.
    return sent.ok ? sent.value : new Uint8Array();
  };
}

async function writeVerdict(
  { backups, now }: StepDependencies,
  id: string,
  content: Omit<Verdict, "at">,
): Promise<void> {
  const verdict: Verdict = { ...content, at: timeText(now()) };
  await backups.writeNote(id, "verdict", JSON.stringify(verdict));
}
