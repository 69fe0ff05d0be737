/** The stages that make a backup, in bounded, idempotent steps. */
import { timeText } from "../storage/time-text.ts";
import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/hash.ts";
import type { TableShape } from "../storage/database-copy.ts";
import {
  type BackupManifest,
  FORMAT,
  manifestText,
  type Part,
  PART_CONTENT_MAX_BYTES,
  type StoredObject,
  sumParts,
} from "./format.ts";
import {
  again,
  type Checkpoint,
  countUp,
  type Draft,
  next,
  type StepContext,
  type StepResult,
} from "./job.ts";
import type { Item, Wanted } from "./job-items.ts";
import { mapConcurrently, OBJECTS_AT_A_TIME } from "./map-concurrently.ts";
import { packPart } from "./ndjson.ts";
import { parseManifest } from "./parse-manifest.ts";
import { stateLines, storedFiles } from "./state-part.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Tables to copy before the others: rows of `alert_findings` belong to them. */
const FIRST_TABLES = new Set(["alert_runs"]);
/** Most rows in a part. */
const ROWS_PER_PART = 500;
/** Most table pages in a step. */
const PAGES_PER_STEP = 10;
const OBJECTS_PER_STEP = 24;

/** Copies the coordinator's present state, and lists the stored files of its versions. */
export async function copyState(
  deps: StepDependencies,
  { checkpoint, subject }: StepContext,
): Promise<StepResult> {
  const { coordinator, database, backups, now } = deps;
  const startedAt = timeText(now());
  const tables = inCopyOrder(await database.tables());
  const versions = coordinator.versions();
  const { part, bytes } = packPart(null, 1, stateLines(coordinator));
  const [current] = versions;
  const draft: Draft = {
    startedAt,
    tables,
    tablesDone: 0,
    afterRow: null,
    partsDone: 0,
    catalog: current && {
      generation: current.generation,
      catalog_sha256: current.catalog_sha256,
    },
    builtBy: coordinator.builders()[current?.catalog_sha256 ?? ""] ?? null,
  };
  await backups.writePart(subject, part.name, { bytes, sha256: part.sha256 });
  const items = storedFiles(versions).map((value): Item => ({
    list: "to_copy",
    key: value.sha256,
    value,
  }));
  items.push({ list: "parts", key: part.name, value: part });
  return next({ ...checkpoint, draft }, { items });
}

/**
 * Sorts parent tables first. Rows that the alerts add in the meantime then at worst appear as
 * findings without their run, which nothing reads, and never as a run without its findings.
 */
function inCopyOrder(tables: readonly TableShape[]): TableShape[] {
  const isFirst = ({ name }: TableShape) => FIRST_TABLES.has(name);
  return [...tables.filter(isFirst), ...tables.filter((table) => !isFirst(table))];
}

/** Copies some pages of D1's tables in the order of their keys. */
export async function copyTables(
  deps: StepDependencies,
  { checkpoint, subject }: StepContext,
): Promise<StepResult> {
  let draft = draftOf(checkpoint);
  const items: Item[] = [];
  for (let pages = 0; pages < PAGES_PER_STEP; pages++) {
    if (draft.tablesDone === draft.tables.length) return next({ ...checkpoint, draft }, { items });
    const copied = await copyPage(deps, draft, subject);
    draft = copied.draft;
    if (copied.part !== null)
      items.push({ list: "parts", key: copied.part.name, value: copied.part });
  }
  return again({ ...checkpoint, draft, done: checkpoint.done + items.length }, 0, items);
}

/** Copies the next page of the current table, unless it is empty. */
async function copyPage(
  { database, backups }: StepDependencies,
  draft: Draft,
  subject: string,
): Promise<{ readonly draft: Draft; readonly part: Part | null }> {
  const table = draft.tables[draft.tablesDone];
  if (table === undefined) throw new Error(`no table ${draft.tablesDone}`);
  const { partsDone } = draft;
  const rows = await database.readPage(table, draft.afterRow, ROWS_PER_PART);
  const lines = takeLines(rows);
  const last = rows[lines.length - 1];
  const isLastPage = rows.length < ROWS_PER_PART && lines.length === rows.length;
  const changed: Draft =
    last === undefined || isLastPage
      ? { ...draft, afterRow: null, partsDone: 0, tablesDone: draft.tablesDone + 1 }
      : {
          ...draft,
          afterRow: table.key.map((column) => last[column] ?? null),
          partsDone: partsDone + 1,
        };
  if (last === undefined) return { draft: changed, part: null };
  const { part, bytes } = packPart(table.name, partsDone + 1, lines);
  await backups.writePart(subject, part.name, { bytes, sha256: part.sha256 });
  return { draft: changed, part };
}

/** Encodes rows as lines until a part is full, but at least one row. */
function takeLines(rows: readonly object[]): string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const line = JSON.stringify(row);
    bytes += Buffer.byteLength(line) + 1;
    if (lines.length > 0 && bytes > PART_CONTENT_MAX_BYTES) break;
    lines.push(line);
  }
  return lines;
}

/**
 * Copies some blobs and upstream files, except those that another backup has stored. Lists an
 * object as missing if no store has an intact copy: a backup of the rest is still useful.
 */
export async function copyObjects(
  deps: StepDependencies,
  { checkpoint, items }: StepContext,
): Promise<StepResult> {
  const due = items.page("to_copy", checkpoint.after, OBJECTS_PER_STEP);
  const copied = await mapConcurrently(due, OBJECTS_AT_A_TIME, async (wanted): Promise<Item> => {
    const { sha256: key } = wanted;
    const value = await copyObject(deps, wanted);
    return value === null ? { list: "missing", key, value: key } : { list: "copied", key, value };
  });
  const after = due.at(-1)?.sha256;
  return countUp(checkpoint, due.length, items.count("to_copy"), { after, items: copied });
}

/** Copies an object, unless it is stored already; null if no store has an intact copy. */
async function copyObject(deps: StepDependencies, wanted: Wanted): Promise<StoredObject | null> {
  const { sha256 } = wanted;
  const stored = await deps.backups.objectBytes(sha256);
  if (stored !== null) return { sha256, bytes: stored };
  const bytes = await readWanted(deps, wanted);
  if (bytes === null || sha256Hex(bytes) !== sha256) return null;
  await deps.backups.writeObject({ sha256, bytes });
  return { sha256, bytes: bytes.length };
}

async function readWanted(
  { catalog, archive }: StepDependencies,
  { sha256, kind }: Wanted,
): Promise<Uint8Array | null> {
  if (kind === "source") return archive.read(sha256);
  for (const replica of ["r2", "kv"] as const) {
    const copy = await catalog.readBlob(replica, sha256);
    if (copy.ok) return copy.value;
    if (copy.fault === "unreadable") throw new Error(copy.detail);
  }
  return null;
}

/** Writes the manifest, which commits the backup. */
export async function writeManifest(
  deps: StepDependencies,
  { job, checkpoint, subject, items }: StepContext,
): Promise<StepResult> {
  const { backups, now } = deps;
  const { startedAt, tables, catalog, builtBy } = draftOf(checkpoint);
  // A repeated step must not replace the manifest.
  if (parseManifest(await backups.readManifest(subject), subject).ok)
    return next({ ...checkpoint, draft: null });
  const isUndo = subject !== job.backup_id;
  const parts = items.all("parts");
  const manifest: BackupManifest = {
    format: FORMAT,
    id: subject,
    trigger: isUndo ? "restore" : job.trigger,
    note: isUndo ? `before the restore of ${job.backup_id}` : job.note,
    started_at: startedAt,
    finished_at: timeText(now()),
    worker_version: deps.workerVersion,
    built_by: builtBy,
    catalog: catalog ?? null,
    tables: Object.fromEntries(
      tables.map(({ name, columns }) => [
        name,
        { columns: columns.map((column) => column.name), ...sumParts(parts, name) },
      ]),
    ),
    state: sumParts(parts, null),
    parts,
    objects: items.all("copied"),
    missing: items.all("missing"),
  };
  if (job.pin && !isUndo)
    await backups.writeNote(subject, "pin", JSON.stringify({ by: job.requested_by }));
  await backups.writeManifest(subject, manifestText(manifest));
  return next({ ...checkpoint, draft: null });
}

function draftOf({ draft }: Checkpoint): Draft {
  if (draft === null) throw new Error("no backup is in the making");
  return draft;
}
