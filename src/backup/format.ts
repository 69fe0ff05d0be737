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
import { sha256Hex } from "../catalog/hash.ts";

/** Format version of this code, which reads no other. */
export const FORMAT = 1;

/** Longest uncompressed content of a part: several of D1's rows, which have at most 2 MB. */
export const PART_CONTENT_MAX_BYTES = 16 * 1024 * 1024;

/** Origin of a backup. */
export const BACKUP_TRIGGERS = ["manual", "cron", "restore"] as const;
export type BackupTrigger = (typeof BACKUP_TRIGGERS)[number];

/** A stored file of rows. */
export interface Part {
  readonly name: string;
  /** Name of the D1 table; null for the coordinator's state. */
  readonly table: string | null;
  readonly rows: number;
  /** Length and SHA-256 (hex) of the stored file. */
  readonly bytes: number;
  readonly sha256: string;
  /** SHA-256 (hex) of its uncompressed lines. */
  readonly content_sha256: string;
}

/** A D1 table. */
interface TableFacts {
  readonly columns: readonly string[];
  readonly rows: number;
  /** SHA-256 (hex) over the content hashes of its parts, each with a line feed. */
  readonly sha256: string;
}

/** A shared object. */
export interface StoredObject {
  readonly sha256: string;
  readonly bytes: number;
}

/** The content of `manifest.json`. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly id: string;
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly started_at: string;
  readonly finished_at: string;
  /** Versions of the Workers that made the backup and that built the catalog. */
  readonly worker_version: string | null;
  readonly built_by: string | null;
  /** The published catalog; null if there was none. */
  readonly catalog: { readonly generation: number; readonly catalog_sha256: string } | null;
  readonly tables: { readonly [name: string]: TableFacts };
  readonly state: Omit<TableFacts, "columns">;
  readonly parts: readonly Part[];
  readonly objects: readonly StoredObject[];
  /** SHA-256 (hex) of its versions' objects that no store had. */
  readonly missing: readonly string[];
}

/** Encodes `manifest.json`. */
export function manifestText(manifest: BackupManifest): string {
  return JSON.stringify({ ...manifest, sha256: sha256Hex(JSON.stringify(manifest)) });
}

/** Names a part of a table, or of the state for null. Numbers start at 1. */
export function partName(table: string | null, number: number): string {
  const of = table === null ? "state" : `d1.${table}`;
  return `${of}.${String(number).padStart(6, "0")}.ndjson.gz`;
}

/** Accepts only the output of `partName`, which cannot leave the folder. */
export const PART_NAME = /^(state|d1\.[A-Za-z0-9_]{1,64})\.\d{6}\.ndjson\.gz$/;

/** Sums the parts of a table, or of the state for null. */
export function sumParts(
  parts: readonly Part[],
  table: string | null,
): { readonly rows: number; readonly sha256: string } {
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
