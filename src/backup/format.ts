/**
 * The format of a backup, version 1. Pure: no clock, no I/O.
 *
 * A backup is a folder of R2, `backups/<id>/`, whose id is a UUIDv7:
 *
 * - `parts/d1.<table>.<number>.ndjson.gz`: rows of a D1 table in the order of its primary key, one
 *   JSON object a line, at most 500 in a part.
 * - `parts/state.000001.ndjson.gz`: a snapshot of the coordinator's state: a line `{"pause"}`, and
 *   a line `{"version"}` with the manifest of each retained version. Uncompressed, no part is
 *   longer than 16 MiB.
 * - `manifest.json`: the list of parts and objects with sizes, row counts and hashes, and its own
 *   SHA-256 at the end. It is written last and commits the backup.
 * - `pin.json` and `verdict.json`: later notes, which are not part of the backup.
 *
 * `backups/objects/<sha256>` has the blobs of all versions and the upstream files that they were
 * built from. All backups share these objects: a backup does not copy an object that exists.
 */
import { z } from "zod";
import { count, type DeepReadonly, hexHash, timestamp } from "../catalog/fields.ts";
import { sha256Hex } from "../catalog/hash.ts";
import { backupId } from "./backup-id.ts";

/** Format version of this code, which reads no other. */
export const FORMAT = 1;

/** Longest uncompressed content of a part: several of D1's rows, which have at most 2 MB. */
export const PART_CONTENT_MAX_BYTES = 16 * 1024 * 1024;

/** Origin of a backup. */
export const BACKUP_TRIGGERS = ["manual", "cron", "restore"] as const;
export type BackupTrigger = (typeof BACKUP_TRIGGERS)[number];

/** Accepts only the output of `partName`, which cannot leave the folder. */
const PART_NAME = /^(state|d1\.[A-Za-z0-9_]{1,64})\.\d{6}\.ndjson\.gz$/;

/** A stored file of rows. */
const partSchema = z.strictObject({
  name: z.string().regex(PART_NAME),
  /** Name of the D1 table; null for the coordinator's state. */
  table: z.string().nullable(),
  rows: count,
  /** Length and hash of the stored file. */
  bytes: count,
  sha256: hexHash,
  /** Hash of its uncompressed lines. */
  content_sha256: hexHash,
});

/** The rows of a table, or of the state; `sha256` is over the hashes of its parts. */
const rowsSchema = z.strictObject({ rows: count, sha256: hexHash });

/** A shared object. */
const objectSchema = z.strictObject({ sha256: hexHash, bytes: count });

/** The content of `manifest.json`. Hashes are SHA-256 (hex). */
export const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  id: backupId,
  trigger: z.enum(BACKUP_TRIGGERS),
  note: z.string().nullable(),
  started_at: timestamp,
  finished_at: timestamp,
  /** Versions of the Workers that made the backup and that built the catalog. */
  worker_version: z.string().nullable(),
  built_by: z.string().nullable(),
  /** The published catalog; null if there was none. */
  catalog: z.strictObject({ generation: count, catalog_sha256: hexHash }).nullable(),
  tables: z.record(z.string(), rowsSchema.extend({ columns: z.array(z.string()) })),
  state: rowsSchema,
  parts: z.array(partSchema),
  objects: z.array(objectSchema),
  /** Objects of its versions that no store had. */
  missing: z.array(hexHash),
});

export type Part = DeepReadonly<z.output<typeof partSchema>>;
export type StoredObject = DeepReadonly<z.output<typeof objectSchema>>;
export type BackupManifest = DeepReadonly<z.output<typeof manifestSchema>>;

/** Encodes `manifest.json`. */
export function manifestText(manifest: BackupManifest): string {
  return JSON.stringify({ ...manifest, sha256: sha256Hex(JSON.stringify(manifest)) });
}

/** Names a part of a table, or of the state for null. Numbers start at 1. */
export function partName(table: string | null, number: number): string {
  const of = table === null ? "state" : `d1.${table}`;
  return `${of}.${String(number).padStart(6, "0")}.ndjson.gz`;
}

/** Sums the parts of a table, or of the state for null. */
export function sumParts(parts: readonly Part[], table: string | null) {
  const own = parts.filter((part) => part.table === table);
  return {
    rows: own.reduce((sum, part) => sum + part.rows, 0),
    sha256: sha256Hex(...own.map((part) => `${part.content_sha256}\n`)),
  };
}

/** Sums the bytes of all parts and objects. */
export function backupBytes({ parts, objects }: BackupManifest): number {
  return [...parts, ...objects].reduce((sum, { bytes }) => sum + bytes, 0);
}
