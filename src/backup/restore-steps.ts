/**
 * The phases that restore a backup, one bounded step at a time; each step may be repeated. Until
 * `replace_state` they only add what nobody looks at: blobs under their hashes, and rows that wait
 * in tables of their own.
 */
import { createHash } from "node:crypto";
import { sha256Hex } from "../catalog/hash.ts";
import { readContents } from "../ingest/state-transfer.ts";
import { listWanted } from "./copy-steps.ts";
import { openManifest, readStateLines } from "./check-steps.ts";
import { fault } from "./fault.ts";
import { goOnHolding, HOLD_LOST, release } from "./hold-steps.ts";
import type { BackupManifest } from "./format.ts";
import { again, failWith, next, type StepContext, type StepResult, wait } from "./job.ts";
import type { Item, Wanted } from "./job-items.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { unpackPart } from "./ndjson.ts";
import type { StepDependencies } from "./step-dependencies.ts";

const OBJECTS_PER_STEP = 24;
/** Objects in memory at a time. */
const OBJECTS_AT_A_TIME = 6;
const PARTS_PER_STEP = 4;
/** After what time to look again whether the stores show the restored catalog: it doubles. */
const FIRST_SETTLE_POLL_MS = 500;
const LAST_SETTLE_POLL_MS = 60_000;

/**
 * Tables whose rows a restore adds and never takes away: restoring the time before it undoes
 * neither what has been done nor what has been told.
 */
const KEPT_TABLES = new Set(["alert_findings", "alert_runs", "audit"]);

/** Compares the tables of the backup with those of the database, and lists what is to be stored. */
export async function compareSchema(
  deps: StepDependencies,
  { checkpoint, subject }: StepContext,
): Promise<StepResult> {
  const manifest = await manifestOf(deps, subject);
  const present = new Map((await deps.database.tables()).map((table) => [table.name, table]));
  for (const [name, { columns }] of Object.entries(manifest.tables)) {
    const table = present.get(name);
    if (table === undefined) return mismatch(`this installation has no table ${name}`);
    const known = new Set(table.columns.map((column) => column.name));
    const unknown = columns.find((column) => !known.has(column));
    if (unknown !== undefined) return mismatch(`there is no column ${name}.${unknown}`);
    const absent = table.columns.find(
      (column) => column.required && !columns.includes(column.name),
    );
    if (absent !== undefined)
      return mismatch(
        `the backup lacks the column ${name}.${absent.name}, which must have a value`,
      );
  }
  const items: Item[] = [];
  for (const part of stateParts(manifest))
    items.push(...listWanted("to_store", readContents(await readStateLines(deps, manifest, part))));
  return next(checkpoint, { items });
}

function mismatch(message: string): StepResult {
  return failWith(
    fault("schema_mismatch", `${message}; use a Worker whose migrations fit the backup`),
  );
}

/** Stores some blobs and upstream files where the catalog and the ingest look for them. */
export async function restoreObjects(
  deps: StepDependencies,
  { job, checkpoint, items }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const due = items.page("to_store", checkpoint.after, OBJECTS_PER_STEP);
  await deps.ingest.noteBlobs(
    due.filter(({ kind }) => kind === "blob").map(({ sha256 }) => sha256),
  );
  await mapConcurrently(due, OBJECTS_AT_A_TIME, (each) => restoreObject(deps, each));
  const done = checkpoint.done + due.length;
  const changed = { ...checkpoint, done, after: due.at(-1)?.sha256 ?? checkpoint.after };
  const total = items.count("to_store");
  return done < total ? again(changed, total) : next(changed);
}

async function restoreObject(
  { backups, catalog, archive }: StepDependencies,
  { sha256, kind }: Wanted,
): Promise<void> {
  const bytes = await backups.readObject(sha256);
  if (bytes === null || sha256Hex(bytes) !== sha256)
    throw new Error(`the object ${sha256} is no longer what was verified`);
  if (kind === "source") return archive.write(sha256, bytes);
  await catalog.writeBlob(sha256, bytes);
  for (const replica of ["r2", "kv"] as const) {
    const copy = await catalog.checkBlob(replica, sha256);
    if (!copy.ok) throw new Error(`${replica} ${copy.fault} ${copy.detail}`);
  }
}

/** Lays the rows of some parts ready in D1. */
export async function stageTables(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const manifest = await manifestOf(deps, subject);
  if (checkpoint.done === 0) await deps.database.beginRestore(Object.keys(manifest.tables));
  const parts = manifest.parts.filter(({ table }) => table !== null);
  const due = parts.slice(checkpoint.done, checkpoint.done + PARTS_PER_STEP);
  for (const part of due) {
    const unpacked = unpackPart(part, await deps.backups.readPart(subject, part.name));
    if (!unpacked.ok) return failWith(unpacked.fault);
    const table = part.table ?? "";
    const rows = unpacked.lines.map((line) => JSON.parse(line));
    await deps.database.stageRows(table, manifest.tables[table]?.columns ?? [], rows);
  }
  const changed = { ...checkpoint, done: checkpoint.done + due.length };
  return changed.done < parts.length ? again(changed, parts.length) : next(changed);
}

/** Lays the coordinator's state ready in the coordinator. */
export async function stageState(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  if (!(await goOnHolding(deps, job))) return HOLD_LOST;
  const manifest = await manifestOf(deps, subject);
  const parts = stateParts(manifest);
  const from = parts.slice(0, checkpoint.done).reduce((sum, { rows }) => sum + rows, 0);
  const part = parts[checkpoint.done];
  if (part === undefined) return next(checkpoint);
  await deps.ingest.stageState(from, await readStateLines(deps, manifest, part));
  const changed = { ...checkpoint, done: checkpoint.done + 1 };
  return changed.done < parts.length ? again(changed, parts.length) : next(changed);
}

/**
 * Replaces the coordinator's state in one transaction, by which the restored catalog is recorded as
 * published. If this is refused nothing has changed; if it is not, the rest follows from it. If the
 * answer is lost it may have been done, so that it is asked for until there is one.
 */
export async function replaceState(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  const manifest = await manifestOf(deps, subject);
  const hash = createHash("sha256");
  for (const part of stateParts(manifest))
    for (const line of await readStateLines(deps, manifest, part)) hash.update(`${line}\n`);
  // Without a hold all through only a repetition succeeds: of what has been replaced already.
  if (!(await goOnHolding(deps, job))) await deps.ingest.release(job.id);
  const result = await deps.ingest.replaceState(job.id, {
    lines: manifest.state.rows,
    sha256: hash.digest("hex"),
    aboveGeneration: await servedGeneration(deps),
  });
  if (!result.ok) return failWith(fault("state_refused", `the coordinator: ${result.message}`));
  return next(checkpoint, { patch: { generation: result.generation } });
}

/** The highest generation that a store shows, so that readers will take the next one. */
async function servedGeneration({ catalog }: StepDependencies): Promise<number> {
  let highest = 0;
  for (const replica of ["r2", "kv"] as const) {
    const copy = await catalog.readManifest(replica);
    if (copy.ok) highest = Math.max(highest, copy.value.generation);
    else if (copy.fault === "unreadable") throw new Error(copy.detail);
  }
  return highest;
}

/** Replaces the rows of all tables at once. */
export async function replaceTables(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  await goOnHolding(deps, job);
  const { tables } = await manifestOf(deps, subject);
  await deps.database.finishRestore(
    Object.entries(tables).map(([name, { columns }]) => ({
      name,
      columns,
      keep: KEPT_TABLES.has(name),
    })),
  );
  return next(checkpoint);
}

/**
 * Waits until the stores show the restored catalog, writes the manifests of the versions before it,
 * and lets the ingest go on.
 */
export async function settle(
  deps: StepDependencies,
  { job, checkpoint, subject }: StepContext,
): Promise<StepResult> {
  await goOnHolding(deps, job);
  const { replicated } = await deps.ingest.status();
  if (!replicated) {
    const { done } = checkpoint;
    const ms = Math.min(FIRST_SETTLE_POLL_MS * 2 ** done, LAST_SETTLE_POLL_MS);
    return wait({ ...checkpoint, done: done + 1 }, ms);
  }
  const manifest = await manifestOf(deps, subject);
  for (const part of stateParts(manifest))
    for (const version of readContents(await readStateLines(deps, manifest, part)).versions)
      await deps.catalog.writeGeneration(version);
  return release(deps, { job, checkpoint });
}

/** The manifest of a backup that has been verified in this job. Throws if it is gone. */
async function manifestOf(deps: StepDependencies, id: string): Promise<BackupManifest> {
  const parsed = await openManifest(deps, id);
  if (!parsed.ok) throw new Error(parsed.fault.message);
  return parsed.manifest;
}

function stateParts({ parts }: BackupManifest): BackupManifest["parts"] {
  return parts.filter(({ table }) => table === null);
}
