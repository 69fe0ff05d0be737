/** The phases that make a backup, one bounded step at a time; each step may be repeated. */
import { sha256Hex } from "../catalog/hash.ts";
import { manifestBlobs } from "../catalog/manifest.ts";
import { readContents, type StateContents } from "../ingest/state-transfer.ts";
import { fault } from "./fault.ts";
import { type BackupManifest, FORMAT, manifestText, sumParts } from "./format.ts";
import {
  again,
  type Checkpoint,
  type Draft,
  failWith,
  next,
  type StepContext,
  type StepResult,
  type Wanted,
} from "./job.ts";
import { packPart } from "./ndjson.ts";
import { parseManifest } from "./parse-manifest.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Rows of a table in one part. */
export const ROWS_PER_PART = 500;
/** Parts written, and objects copied, in one step. */
const PARTS_PER_STEP = 10;
const OBJECTS_PER_STEP = 24;
/** Objects in memory at a time. */
const OBJECTS_AT_A_TIME = 6;
/** A hold that is not renewed ends after this time. */
const BACKUP_HOLD_MS = 2 * 60_000;
const RESTORE_HOLD_MS = 60 * 60_000;
/** How often to look whether a step of an ingest run has ended. */
const HOLD_POLL_MS = 500;

/** Holds the ingest between two of its steps, and has it copy its state as it is then. */
export async function hold(
  { ingest, database, now }: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<StepResult> {
  const held = await ingest.hold(holdRequest(job));
  if (!held.ok && held.reason === "run_active")
    return failWith(
      fault("run_active", `ingest run ${held.runId} is under way; wait for its end, or cancel it`),
    );
  if (!held.ok || !held.ready) return { do: "wait", ms: HOLD_POLL_MS };
  if (!(await ingest.takeSnapshot(job.id))) return { do: "wait", ms: HOLD_POLL_MS };
  const draft: Draft = {
    startedAt: new Date(now()).toISOString(),
    tables: await database.tables(),
    tablesDone: 0,
    after: null,
    linesDone: 0,
    parts: [],
    versions: [],
    builtBy: [],
    wanted: [],
    objects: [],
  };
  return next({ ...checkpoint, draft });
}

/** Renews the hold of a job. False if it had ended: then the state may have changed since. */
export async function goOnHolding(
  { ingest }: StepDependencies,
  job: StepContext["job"],
): Promise<boolean> {
  const held = await ingest.hold(holdRequest(job));
  return held.ok && !held.isNew;
}

export const HOLD_LOST = failWith(
  fault("hold_lost", "it took too long, so that the ingest went on in the meantime; try again"),
);

function holdRequest({ id, kind }: StepContext["job"]) {
  const isRestore = kind === "restore";
  return {
    by: id,
    kind: isRestore ? ("restore" as const) : ("backup" as const),
    forMs: isRestore ? RESTORE_HOLD_MS : BACKUP_HOLD_MS,
  };
}

/** Copies a page of the coordinator's state, and notes what it names in the stores. */
export async function copyState(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const draft = draftOf(checkpoint);
  const page = await deps.ingest.readSnapshot(draft.linesDone);
  const { part, bytes } = packPart(null, draft.parts.length + 1, page.lines);
  await deps.backups.writePart(subject, part.name, { bytes, sha256: part.sha256 });
  const contents = readContents(page.lines);
  const changed: Draft = {
    ...draft,
    linesDone: draft.linesDone + page.lines.length,
    parts: [...draft.parts, part],
    versions: [
      ...draft.versions,
      ...contents.versions.map(({ generation, catalog_sha256 }) => ({
        generation,
        catalog_sha256,
      })),
    ],
    builtBy: [...draft.builtBy, ...contents.builtBy],
    wanted: addWanted(draft.wanted, contents),
  };
  if (page.next === null) return next({ ...checkpoint, draft: changed });
  return again({ ...checkpoint, draft: changed, done: changed.parts.length }, 0);
}

/** What the stores must have for a state, added to what is wanted already. */
export function addWanted(wanted: readonly Wanted[], contents: StateContents): Wanted[] {
  const all = new Map(wanted.map((each) => [each.sha256, each]));
  for (const manifest of contents.versions) {
    for (const sha256 of manifestBlobs(manifest)) all.set(sha256, { sha256, kind: "blob" });
    for (const [file, sha256] of Object.entries(manifest.sources))
      // The snapshot is a part of the Worker, not of the stores.
      if (file !== "snapshot") all.set(sha256, { sha256, kind: "source" });
  }
  for (const sha256 of contents.archived) all.set(sha256, { sha256, kind: "source" });
  return [...all.values()];
}

/** Copies some pages of D1's tables, in order of their keys. */
export async function copyTables(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  let draft = draftOf(checkpoint);
  for (let parts = 0; parts < PARTS_PER_STEP; parts++) {
    if (draft.tablesDone === draft.tables.length)
      return next({ ...checkpoint, draft: { ...draft, after: null } });
    draft = await copyPage(deps, draft, subject);
  }
  return again({ ...checkpoint, draft, done: draft.parts.length }, 0);
}

async function copyPage(
  { database, backups }: StepDependencies,
  draft: Draft,
  subject: string,
): Promise<Draft> {
  const table = draft.tables[draft.tablesDone];
  if (table === undefined) throw new Error(`no table ${draft.tablesDone}`);
  const rows = await database.readPage(table, draft.after, ROWS_PER_PART);
  const last = rows.at(-1);
  let { parts } = draft;
  if (last !== undefined) {
    const number = parts.filter((part) => part.table === table.name).length + 1;
    const lines = rows.map((row) => JSON.stringify(row));
    const { part, bytes } = packPart(table.name, number, lines);
    await backups.writePart(subject, part.name, { bytes, sha256: part.sha256 });
    parts = [...parts, part];
  }
  if (last === undefined || rows.length < ROWS_PER_PART)
    return { ...draft, parts, after: null, tablesDone: draft.tablesDone + 1 };
  return { ...draft, parts, after: table.key.map((column) => last[column] ?? null) };
}

/** Copies some blobs and upstream files, except those that another backup has stored. */
export async function copyObjects(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const draft = draftOf(checkpoint);
  const objects = [...draft.objects];
  const due = draft.wanted.slice(objects.length, objects.length + OBJECTS_PER_STEP);
  for (let start = 0; start < due.length; start += OBJECTS_AT_A_TIME) {
    const some = due.slice(start, start + OBJECTS_AT_A_TIME);
    const copies = await Promise.all(some.map((wanted) => copyObject(deps, wanted)));
    for (const [index, bytes] of copies.entries()) {
      const { sha256, kind } = some[index] ?? { sha256: "", kind: "blob" };
      if (bytes === null)
        return failWith(
          fault(
            "nothing_to_copy",
            `the ${kind} ${sha256} is in no store as it was written; a full ingest run stores it anew`,
          ),
        );
      objects.push({ sha256, bytes });
    }
  }
  const changed = { ...checkpoint, draft: { ...draft, objects }, done: objects.length };
  return objects.length === draft.wanted.length
    ? next(changed)
    : again(changed, draft.wanted.length);
}

/** Copies an object, unless it is there. Its length; null if no store has it. */
async function copyObject(deps: StepDependencies, wanted: Wanted): Promise<number | null> {
  const { sha256 } = wanted;
  const stored = await deps.backups.objectBytes(sha256);
  if (stored !== null) return stored;
  const bytes = await readWanted(deps, wanted);
  if (bytes === null || sha256Hex(bytes) !== sha256) return null;
  await deps.backups.writeObject({ sha256, bytes });
  return bytes.length;
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

/** Writes the manifest, by which the backup begins to exist, and lets the ingest go on. */
export async function writeManifest(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  const { backups, ingest, now } = deps;
  const draft = draftOf(checkpoint);
  const isWritten = parseManifest(await backups.readManifest(subject), subject).ok;
  if (!isWritten && !(await goOnHolding(deps, job))) return HOLD_LOST;
  const isWayBack = subject !== job.backupId;
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
        { columns: columns.map((column) => column.name), ...sumParts(draft.parts, name) },
      ]),
    ),
    state: sumParts(draft.parts, null),
    parts: draft.parts,
    objects: draft.objects,
  };
  if (job.pin && !isWayBack)
    await backups.writeNote(subject, "pin", JSON.stringify({ by: job.requestedBy }));
  // What is written stays, also if the step is repeated because its end was lost.
  if (!isWritten) await backups.writeManifest(subject, manifestText(manifest));
  if (job.kind === "run") {
    await ingest.forgetTransfer();
    await ingest.release(job.id);
  }
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
