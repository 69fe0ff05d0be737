/** The phases that make a backup, one bounded step at a time; each step may be repeated. */
import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/hash.ts";
import { manifestBlobs } from "../catalog/manifest.ts";
import { readContents, type StateContents } from "../ingest/state-transfer.ts";
import { fault } from "./fault.ts";
import {
  type BackupManifest,
  FORMAT,
  manifestText,
  type Part,
  PART_CONTENT_MAX_BYTES,
  type StoredObject,
  sumParts,
} from "./format.ts";
import { goOnHolding, HOLD_LOST } from "./hold-steps.ts";
import {
  again,
  type Checkpoint,
  type Draft,
  failWith,
  next,
  type StepContext,
  type StepResult,
} from "./job.ts";
import type { Item, Wanted } from "./job-items.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { packPart } from "./ndjson.ts";
import { parseManifest } from "./parse-manifest.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Rows of a table in one part. */
const ROWS_PER_PART = 500;
/** Pages of tables, and objects, that are copied in one step. */
const PAGES_PER_STEP = 10;
const OBJECTS_PER_STEP = 24;
/** Objects in memory at a time. */
const OBJECTS_AT_A_TIME = 6;

/** Copies a page of the coordinator's state, and notes what it names in the stores. */
export async function copyState(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const draft = draftOf(checkpoint);
  const page = await deps.ingest.readSnapshot(draft.linesDone);
  const { part, bytes } = packPart(null, draft.partsDone + 1, page.lines);
  await deps.backups.writePart(subject, part.name, { bytes, sha256: part.sha256 });
  const contents = readContents(page.lines);
  const changed: Draft = {
    ...draft,
    linesDone: draft.linesDone + page.lines.length,
    partsDone: draft.partsDone + 1,
    versions: [
      ...draft.versions,
      ...contents.versions.map(({ generation, catalog_sha256 }) => ({
        generation,
        catalog_sha256,
      })),
    ],
    builtBy: [...draft.builtBy, ...contents.builtBy],
  };
  const items: Item[] = [
    { list: "parts", key: part.name, value: part },
    ...listWanted("to_copy", contents),
  ];
  if (page.next === null)
    return next({ ...checkpoint, draft: { ...changed, partsDone: 0 } }, { items });
  return again({ ...checkpoint, draft: changed, done: checkpoint.done + 1 }, 0, items);
}

/** What the stores must have for a state, as items of a list. */
export function listWanted(list: "to_copy" | "to_store", contents: StateContents): Item[] {
  const all = new Map<string, Wanted>();
  for (const manifest of contents.versions) {
    for (const sha256 of manifestBlobs(manifest)) all.set(sha256, { sha256, kind: "blob" });
    for (const [file, sha256] of Object.entries(manifest.sources))
      // The snapshot is a part of the Worker, not of the stores.
      if (file !== "snapshot") all.set(sha256, { sha256, kind: "source" });
  }
  for (const sha256 of contents.archived) all.set(sha256, { sha256, kind: "source" });
  return [...all.values()].map((value) => ({ list, key: value.sha256, value }));
}

/** Copies some pages of D1's tables, in order of their keys. */
export async function copyTables(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
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

/** Copies the next page of the table that is due, if there is any row in it. */
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

/** Rows as lines, from the first on, as many as one part takes: at least one, if there is any. */
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

/** Copies some blobs and upstream files, except those that another backup has stored. */
export async function copyObjects(
  deps: StepDependencies,
  { job, checkpoint, items }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const due = items.page("to_copy", checkpoint.after, OBJECTS_PER_STEP);
  const copies = await mapConcurrently(due, OBJECTS_AT_A_TIME, (wanted) =>
    copyObject(deps, wanted),
  );
  const missing = due.find((_, index) => copies[index] === null);
  if (missing !== undefined)
    return failWith(
      fault(
        "nothing_to_copy",
        `the ${missing.kind} ${missing.sha256} is in no store as it was written; a full ingest run stores it anew`,
      ),
    );
  const copied = copies
    .filter((copy) => copy !== null)
    .map((value): Item => ({ list: "copied", key: value.sha256, value }));
  const done = checkpoint.done + due.length;
  const changed = { ...checkpoint, done, after: due.at(-1)?.sha256 ?? checkpoint.after };
  const total = items.count("to_copy");
  return done < total ? again(changed, total, copied) : next(changed, { items: copied });
}

/** Copies an object, unless it is there; null if no store has it. */
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
  if (kind === "source") {
    const stream = await archive.open("an upstream file", sha256);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  for (const replica of ["r2", "kv"] as const) {
    const copy = await catalog.readBlob(replica, sha256);
    if (copy.ok) return copy.value;
    if (copy.fault === "unreadable") throw new Error(copy.detail);
  }
  return null;
}

/** Writes the manifest, by which the backup begins to exist. */
export async function writeManifest(
  deps: StepDependencies,
  { job, checkpoint, subject, items }: StepContext,
): Promise<StepResult> {
  const { backups, now } = deps;
  const draft = draftOf(checkpoint);
  // What is written stays, also if the step is repeated because its end was lost.
  if (parseManifest(await backups.readManifest(subject), subject).ok)
    return next({ ...checkpoint, draft: null });
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const isWayBack = subject !== job.backupId;
  const parts = items.all("parts");
  const manifest: BackupManifest = {
    format: FORMAT,
    id: subject,
    trigger: isWayBack ? "restore" : job.trigger,
    note: isWayBack ? `before the restore of ${job.backupId}` : job.note,
    started_at: draft.startedAt,
    finished_at: new Date(now()).toISOString(),
    worker_version: deps.workerVersion,
    ...builderOf(draft),
    tables: Object.fromEntries(
      draft.tables.map(({ name, columns }) => [
        name,
        { columns: columns.map((column) => column.name), ...sumParts(parts, name) },
      ]),
    ),
    state: sumParts(parts, null),
    parts,
    objects: items.all("copied"),
  };
  if (job.pin && !isWayBack)
    await backups.writeNote(subject, "pin", JSON.stringify({ by: job.requestedBy }));
  await backups.writeManifest(subject, manifestText(manifest));
  return next({ ...checkpoint, draft: null });
}

/** The catalog that is published, and the version of the Worker that built it. */
function builderOf({ versions, builtBy }: Draft): Pick<BackupManifest, "catalog" | "built_by"> {
  const current = versions.toSorted((a, b) => b.generation - a.generation)[0];
  if (current === undefined) return { catalog: null, built_by: null };
  // After a rollback or a restore another version has the same content.
  const same = new Set(
    versions
      .filter(({ catalog_sha256 }) => catalog_sha256 === current.catalog_sha256)
      .map(({ generation }) => generation),
  );
  const builder = builtBy.find(({ generation }) => same.has(generation));
  return { catalog: current, built_by: builder?.workerVersion ?? null };
}

function draftOf({ draft }: Checkpoint): Draft {
  if (draft === null) throw new Error("no backup is in the making");
  return draft;
}
