import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Table, toCsv, toJson } from "./csv.ts";
import { gzip } from "./gzip.ts";
import { compareCodeUnits } from "./text.ts";

/** What the manifest says of a file. */
export interface FileEntry {
  /** Of the compressed bytes. */
  readonly sha256: string;
  readonly bytes: number;
  /** Without the header row. */
  readonly rows: number;
  /** Of the uncompressed text: equal content is equal whatever compressed it. */
  readonly content_sha256: string;
}

const SNAPSHOT = new URL("../snapshot/", import.meta.url);
/** Where the published snapshot is while its successor is written. */
const PUBLISHED = new URL("../snapshot.published/", import.meta.url);
/** Where a snapshot is left that did not pass. */
const REFUSED = new URL("../snapshot.refused/", import.meta.url);

/** SHA-256 in lower-case hex. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Writes a snapshot into an empty folder, and puts the published one back if the new one does not
 * pass: the next build must not compare with it.
 *
 * @param write writes the files and says what is wrong with them.
 */
export function replaceSnapshot(write: () => readonly string[]): readonly string[] {
  rmSync(PUBLISHED, { recursive: true, force: true });
  if (existsSync(SNAPSHOT)) renameSync(SNAPSHOT, PUBLISHED);
  mkdirSync(new URL("names/", SNAPSHOT), { recursive: true });
  let problems: readonly string[] | undefined;
  try {
    problems = write();
    return problems;
  } finally {
    if (problems?.length !== 0 && existsSync(PUBLISHED)) {
      rmSync(REFUSED, { recursive: true, force: true });
      renameSync(SNAPSHOT, REFUSED);
      renameSync(PUBLISHED, SNAPSHOT);
    }
    rmSync(PUBLISHED, { recursive: true, force: true });
  }
}

/** Writes a table as gzip, in CSV or JSON by its name, and says what the manifest must know of it. */
export function writeTable(name: string, table: Table): FileEntry {
  const text = name.endsWith(".json.gz") ? toJson(table) : toCsv(table);
  const bytes = gzip(text);
  writeFileSync(new URL(name, SNAPSHOT), bytes);
  return {
    sha256: sha256(bytes),
    bytes: bytes.length,
    rows: table.rows.length,
    content_sha256: sha256(text),
  };
}

/** Writes a text file of the snapshot. */
export function writeText(name: string, text: string): void {
  writeFileSync(new URL(name, SNAPSHOT), text);
}

/** The hash that names the snapshot: over lines `name:sha256`, sorted, each ended by LF. */
export function snapshotHash(files: Readonly<Record<string, FileEntry>>): string {
  const lines = Object.entries(files).map(([name, entry]) => `${name}:${entry.sha256}\n`);
  return sha256(lines.toSorted(compareCodeUnits).join(""));
}
