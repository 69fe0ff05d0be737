/** The stages that make a backup, in bounded, idempotent steps. */
import { timeText } from "../platform/time.ts";
import { Buffer } from "node:buffer";
import {
  type BackupManifest,
  FORMAT,
  manifestText,
  packPart,
  type Part,
  PART_CONTENT_MAX_BYTES,
  partName,
} from "./format.ts";
import {
  sameStage,
  type BackupCheckpoint,
  type Draft,
  nextStage,
  type StepContext,
  type StepDependencies,
  type BackupStepResult,
} from "./step.ts";
import { backedUpFiles, copyFiles, servedFiles } from "./copy-files.ts";
import { readState } from "./read-backups.ts";
import { type SavedState, stateLines, type StoredFile, storedFiles } from "./state-part.ts";

const ROWS_PER_PART = 500;
const PAGES_PER_STEP = 10;

export async function copyState(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const { state, database, backups, now } = deps;
  const startedAt = timeText(now());
  const tables = await database.tables();
  const current = state.currentVersion();
  const saved: SavedState = {
    pause: state.pause(),
    ledger: state.savedLedger(),
    versions: state.versions(),
  };
  const { part, bytes } = packPart(null, 1, stateLines(saved));
  const draft: Draft = {
    startedAt,
    state: part,
    tables: tables.map((table) => ({ ...table, rows: 0, parts: 0 })),
    tablesDone: 0,
    afterRow: null,
    catalog: current && {
      generation: current.generation,
      catalog_sha256: current.catalog_sha256,
    },
  };
  await backups.writePart(job.backup_id, part.name, { bytes, sha256: part.sha256 });
  return nextStage({ ...checkpoint, draft });
}

export async function copyTables(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  let draft = draftOf(checkpoint);
  for (let pages = 0; pages < PAGES_PER_STEP; pages++) {
    if (draft.tablesDone === draft.tables.length) return nextStage({ ...checkpoint, draft });
    draft = await copyPage(deps, draft, job.backup_id);
  }
  return sameStage({ ...checkpoint, draft, done: checkpoint.done + PAGES_PER_STEP }, 0);
}

async function copyPage(
  { database, backups }: StepDependencies,
  draft: Draft,
  id: string,
): Promise<Draft> {
  const { tables, tablesDone, afterRow } = draft;
  const table = tables[tablesDone];
  if (table === undefined) throw new Error(`no table ${tablesDone}`);
  const rows = await database.readPage(table, afterRow, ROWS_PER_PART);
  const lines = takeLines(rows);
  const last = rows[lines.length - 1];
  if (last === undefined) return { ...draft, afterRow: null, tablesDone: tablesDone + 1 };
  const { part, bytes } = packPart(table.name, table.parts + 1, lines);
  await backups.writePart(id, part.name, { bytes, sha256: part.sha256 });
  const copied = { ...table, rows: table.rows + lines.length, parts: table.parts + 1 };
  const isLastPage = rows.length < ROWS_PER_PART && lines.length === rows.length;
  return {
    ...draft,
    tables: tables.with(tablesDone, copied),
    afterRow: isLastPage ? null : table.key.map((column) => last[column] ?? null),
    tablesDone: isLastPage ? tablesDone + 1 : tablesDone,
  };
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
 * Copies some blobs and upstream files, except those that another backup has stored. Leaves out a file
 * without an intact copy, because a backup of the rest is still useful.
 */
export async function copyObjects(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const files = await listFiles(deps, job.backup_id, draftOf(checkpoint));
  const places = { from: servedFiles(deps), to: backedUpFiles(deps) };
  return copyFiles(files, { ...places, lacking: () => undefined }, checkpoint);
}

/** Lists the files of the versions in the state part of the unfinished backup. */
async function listFiles(
  { backups }: StepDependencies,
  id: string,
  { state }: Draft,
): Promise<StoredFile[]> {
  const read = await readState(backups, { id, parts: [state] });
  if (!read.ok) throw new Error(read.fault.message);
  return storedFiles(read.state);
}

/** Writes the manifest, which commits the backup. */
export async function writeManifest(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const { backups, now, workerVersion } = deps;
  const { backup_id: id, trigger, note } = job;
  const draft = draftOf(checkpoint);
  const files = await listFiles(deps, id, draft);
  const stored = new Map<string, number>();
  for await (const page of backups.objects())
    for (const { sha256, bytes } of page) stored.set(sha256, bytes);
  const manifest: BackupManifest = {
    format: FORMAT,
    id,
    trigger,
    note,
    started_at: draft.startedAt,
    finished_at: timeText(now()),
    worker_version: workerVersion,
    built_by: null,
    catalog: draft.catalog,
    tables: Object.fromEntries(
      draft.tables.map(({ name, columns, rows }) => [
        name,
        { columns: columns.map((column) => column.name), rows },
      ]),
    ),
    parts: await listParts(deps, id, draft),
    objects: files.flatMap(({ sha256 }) => {
      const bytes = stored.get(sha256);
      return bytes === undefined ? [] : [{ sha256, bytes }];
    }),
    missing: files.map(({ sha256 }) => sha256).filter((sha256) => !stored.has(sha256)),
  };
  if (job.pin) await backups.writeNote(id, "pin", JSON.stringify({ by: job.requested_by }));
  await backups.writeManifest(id, manifestText(manifest));
  return nextStage(checkpoint);
}

/** Lists the parts that the steps have committed. An interrupted step may have left more in R2. */
async function listParts(
  { backups }: StepDependencies,
  id: string,
  { state, tables }: Draft,
): Promise<Part[]> {
  const stored = new Map((await backups.parts(id)).map((part) => [part.name, part]));
  const names = tables.flatMap((table) =>
    Array.from({ length: table.parts }, (_, index) => partName(table.name, index + 1)),
  );
  return [state.name, ...names].map((name) => {
    const part = stored.get(name);
    if (part === undefined) throw new Error(`the part ${name} is gone`);
    return part;
  });
}

function draftOf({ draft }: BackupCheckpoint): Draft {
  if (draft === null) throw new Error("no backup is in progress");
  return draft;
}
