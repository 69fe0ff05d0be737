/**
 * The format of a backup, version 1. Pure: no clock, no I/O.
 *
 * A backup is a folder of R2, `backups/<id>/`, whose id is a UUIDv7:
 *
 * - `parts/d1.<table>.<number>.ndjson.gz`: rows of a D1 table in the order of its primary key, one
 *   JSON object a line, at most 500 in a part.
 * - `parts/state.000001.ndjson.gz`: a snapshot of the coordinator's state: a line `{"pause",
 *   "ledger"}`, and a line `{"version"}` with the manifest of each retained version. Uncompressed,
 *   no part is longer than 16 MiB.
 * - `manifest.json`: the list of parts and objects with their sizes and hashes, and its own SHA-256
 *   at the end. It is written last and commits the backup.
 * - `pin.json` and `verdict.json`: later notes, which are not part of the backup.
 *
 * `backups/objects/<sha256>` has the blobs of all versions and the upstream files that they were
 * built from. All backups share these objects: a backup does not copy an object that exists.
 */
import * as z from "zod";
import {
  count,
  type DeepReadonly,
  fileBytes,
  generation,
  hexHash,
  timestamp,
} from "../schemas/fields.ts";
import { isFormat } from "../platform/ranges.ts";
import { sha256Hex } from "../catalog/bytes.ts";
import { node } from "../platform/node.ts";
import { parseJson } from "../platform/parse-json.ts";
import { BACKUP_TRIGGERS, backupId } from "../schemas/backup.ts";
import { type Fault, fault } from "../schemas/backup-fault.ts";

/** Format version of this code, which reads no other. */
export const FORMAT = 1;

/** Longest uncompressed content of a part: several of D1's rows, which have at most 2 MB. */
export const PART_CONTENT_MAX_BYTES = 16 * 1024 * 1024;

/** Accepts only the output of `partName`, which cannot leave the folder. */
const PART_NAME = /^(?:state|d1\.(?<table>[A-Za-z0-9_]{1,64}))\.\d{6}\.ndjson\.gz$/;

const partSchema = z.strictObject({
  name: z.string().regex(PART_NAME),
  bytes: fileBytes,
  sha256: hexHash,
});

const objectSchema = z.strictObject({ sha256: hexHash, bytes: fileBytes });

const backupManifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  id: backupId,
  trigger: z.enum(BACKUP_TRIGGERS),
  note: z.string().nullable(),
  started_at: timestamp,
  finished_at: timestamp,
  worker_version: z.string().nullable(),
  /** Nothing reads it, but an earlier Worker refuses a manifest without it. */
  built_by: z.string().nullable(),
  /** The published catalog; null if there was none. */
  catalog: z.strictObject({ generation, catalog_sha256: hexHash }).nullable(),
  tables: z.record(z.string(), z.strictObject({ columns: z.array(z.string()), rows: count })),
  parts: z.array(partSchema),
  objects: z.array(objectSchema),
  /** Objects of its versions that no store had. */
  missing: z.array(hexHash),
});

export type Part = DeepReadonly<z.output<typeof partSchema>>;
export type BackupManifest = DeepReadonly<z.output<typeof backupManifestSchema>>;

export function manifestText(manifest: BackupManifest): string {
  return JSON.stringify({ ...manifest, sha256: sha256Hex(JSON.stringify(manifest)) });
}

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: BackupManifest }
  | { readonly ok: false; readonly fault: Fault };

/** Parses a `manifest.json`, and checks its own hash, its schema and the backup's id. */
export function parseManifest(text: string | null, id: string): ParsedManifest {
  if (text === null) return refuse("manifest_missing", "there is no manifest.json");
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return refuse("manifest_damaged", "manifest.json is truncated, too long or not a JSON object");
  const { sha256, ...fields }: { readonly [name: string]: unknown } = { ...json };
  const { format } = fields;
  if (isFormat(format) && format > FORMAT)
    return refuse(
      "future_format",
      `the format is ${format}, but this Worker reads ${FORMAT}; use a newer Worker`,
    );
  if (sha256 !== sha256Hex(JSON.stringify(fields)))
    return refuse("manifest_damaged", "manifest.json does not match its own hash");
  const { data: manifest, error } = backupManifestSchema.safeParse(fields);
  if (error !== undefined) {
    const issues = error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    return refuse("manifest_damaged", `manifest.json: ${issues.slice(0, 5).join("; ")}`);
  }
  if (manifest.id !== id)
    return refuse("manifest_damaged", `manifest.json belongs to backup ${manifest.id}`);
  return { ok: true, manifest };
}

function refuse(code: Fault["code"], message: string): ParsedManifest {
  return { ok: false, fault: fault(code, message) };
}

/** Names a part of a table, or of the state for null. Numbers start at 1. */
export function partName(table: string | null, number: number): string {
  const of = table === null ? "state" : `d1.${table}`;
  return `${of}.${String(number).padStart(6, "0")}.ndjson.gz`;
}

/** Returns the table of a part; null for the coordinator's state. */
export function tableOf({ name }: Pick<Part, "name">): string | null {
  return PART_NAME.exec(name)?.groups?.["table"] ?? null;
}

export function backupBytes({ parts, objects }: BackupManifest): number {
  return [...parts, ...objects].reduce((sum, { bytes }) => sum + bytes, 0);
}

export function packPart(
  table: string | null,
  number: number,
  lines: readonly string[],
): { readonly part: Part; readonly bytes: Uint8Array } {
  const bytes = node.zlib.gzipSync(lines.map((line) => `${line}\n`).join(""));
  const name = partName(table, number);
  return { part: { name, bytes: bytes.length, sha256: sha256Hex(bytes) }, bytes };
}

type UnpackedPart =
  | { readonly ok: true; readonly lines: readonly string[] }
  | { readonly ok: false; readonly fault: Fault };

export function unpackPart({ name, sha256 }: Part, bytes: Uint8Array | null): UnpackedPart {
  if (bytes === null) return damaged(name, "is missing");
  if (sha256Hex(bytes) !== sha256) return damaged(name, "is damaged: its bytes have another hash");
  try {
    const content = decoder.decode(
      node.zlib.gunzipSync(bytes, { maxOutputLength: PART_CONTENT_MAX_BYTES }),
    );
    return { ok: true, lines: content.split("\n").slice(0, -1) };
  } catch {
    return damaged(name, `is not gzip of at most ${PART_CONTENT_MAX_BYTES} bytes of UTF-8`);
  }
}

function damaged(name: string, problem: string): UnpackedPart {
  return { ok: false, fault: fault("part_damaged", `${name} ${problem}`) };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
