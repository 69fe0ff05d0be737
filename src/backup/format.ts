/**
 * The format of a backup, version 1. Pure: no clock, no I/O.
 *
 * A backup is a folder of R2, `backups/<id>/`, whose id is a UUIDv7:
 *
 * - `parts/d1.<table>.<number>.ndjson.gz`: rows of a D1 table in the order of its primary key, one
 *   JSON object a line, at most 500 in a part.
 * - `parts/state.000001.ndjson.gz`: the coordinator's state as it was at one moment: a line
 *   `{"pause"}`, and for each retained version a line `{"version"}` with its manifest. Uncompressed,
 *   no part is longer than 16 MiB.
 * - `manifest.json`: what there is, with sizes, row counts and hashes. It is written last, so that
 *   a backup without it does not exist, and ends with the SHA-256 of itself.
 * - `pin.json` and `verdict.json`: what was said of the backup later. They are no part of it.
 *
 * The blobs of all versions and the upstream bytes they were built from lie in
 * `backups/objects/<sha256>`, shared by all backups: one that finds an object there names it only.
 */
import { sha256Hex } from "../catalog/hash.ts";

/** Version of the format that this code writes, and the only one that it reads. */
export const FORMAT = 1;

/** Longest content of a part, uncompressed: several of D1's rows, which are at most 2 MB long. */
export const PART_CONTENT_MAX_BYTES = 16 * 1024 * 1024;

/** Who or what asked for a backup. */
export const BACKUP_TRIGGERS = ["manual", "cron", "restore"] as const;
export type BackupTrigger = (typeof BACKUP_TRIGGERS)[number];

/** A stored file of rows. */
export interface Part {
  readonly name: string;
  /** Name of the D1 table; null for the coordinator's state. */
  readonly table: string | null;
  readonly rows: number;
  /** Length and SHA-256 (hex) of the file as it is stored. */
  readonly bytes: number;
  readonly sha256: string;
  /** SHA-256 (hex) of its lines, uncompressed. */
  readonly content_sha256: string;
}

/** A D1 table. */
export interface TableFacts {
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

/** What a backup consists of: the content of `manifest.json`. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly id: string;
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly started_at: string;
  readonly finished_at: string;
  /** Version of the Worker that made the backup, and of the one that built the catalog. */
  readonly worker_version: string | null;
  readonly built_by: string | null;
  /** The catalog that was published; null if none was. */
  readonly catalog: { readonly generation: number; readonly catalog_sha256: string } | null;
  readonly tables: { readonly [name: string]: TableFacts };
  readonly state: Omit<TableFacts, "columns">;
  readonly parts: readonly Part[];
  readonly objects: readonly StoredObject[];
  /** SHA-256 (hex) of what its versions name and no store had. */
  readonly missing: readonly string[];
}

/** The text of `manifest.json`. */
export function manifestText(manifest: BackupManifest): string {
  return JSON.stringify({ ...manifest, sha256: sha256Hex(JSON.stringify(manifest)) });
}

/** Name of the part of a table, or of the state for null, with a number from 1. */
export function partName(table: string | null, number: number): string {
  const of = table === null ? "state" : `d1.${table}`;
  return `${of}.${String(number).padStart(6, "0")}.ndjson.gz`;
}

/** What `partName` gives, and nothing that could lead elsewhere. */
export const PART_NAME = /^(state|d1\.[A-Za-z0-9_]{1,64})\.\d{6}\.ndjson\.gz$/;

/** What the parts of a table, or of the state for null, come to. */
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

/** Bytes of everything that a backup names. */
export function backupBytes({ parts, objects }: BackupManifest): number {
  return [...parts, ...objects].reduce((sum, { bytes }) => sum + bytes, 0);
}
