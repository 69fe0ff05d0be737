/**
 * The stages that restore a backup, in bounded, idempotent steps. Until `replace_versions` they
 * only add data: blobs under their hashes, and missing rows of the history.
 */
import { timeText } from "../platform/time.ts";
import { fault } from "../schemas/backup-fault.ts";
import { isAdoptable } from "../platform/ranges.ts";
import { type BackupManifest, parseManifest, tableOf, unpackPart } from "./format.ts";
import type { BackupJob } from "../schemas/backup-job.ts";
import {
  countUp,
  failWith,
  nextStage,
  type StepContext,
  type StepDependencies,
  type BackupStepResult,
} from "./step.ts";
import { backedUpFiles, copyFiles, servedFiles } from "./copy-files.ts";
import { readState } from "./read-backups.ts";
import { type SavedState, type StoredFile, storedFiles, wholeVersions } from "./state-part.ts";

const PARTS_RESTORED_PER_STEP = 4;
/**
 * A restore does not write the audit: a forged backup could change it. Nor does it write
 * `alert_findings` of an earlier Worker, which repeats what `alert_runs` says.
 */
const NEVER_RESTORED = ["audit", "alert_findings"];

/** Compares the tables of the backup with those of the database. */
export async function compareSchema(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const manifest = await manifestOf(deps, job);
  const present = new Map((await deps.database.tables()).map((table) => [table.name, table]));
  for (const [name, { columns }] of restoredTables(manifest)) {
    const table = present.get(name);
    if (table === undefined) return mismatch(`this installation has no table ${name}`);
    const known = new Set(table.columns.map((column) => column.name));
    const unknown = columns.find((column) => !known.has(column));
    if (unknown !== undefined) return mismatch(`there is no column ${name}.${unknown}`);
    const absent = table.columns.find(
      (column) => column.required && !columns.includes(column.name),
    );
    if (absent !== undefined)
      return mismatch(`the backup lacks the column ${name}.${absent.name}, which requires a value`);
  }
  return nextStage(checkpoint);
}

function mismatch(message: string): BackupStepResult {
  return failWith(
    fault("schema_mismatch", `${message}; use a Worker whose migrations match the backup`),
  );
}

/** Writes some blobs and upstream files to the stores of the catalog and the ingest. */
export async function restoreObjects(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const manifest = await manifestOf(deps, job);
  const saved = await restorable(deps, manifest);
  if (saved.versions.length === 0) return failWith(NOTHING_TO_SERVE);
  const missing = new Set(manifest.missing);
  const files = storedFiles(saved).filter(({ sha256 }) => !missing.has(sha256));
  const places = { from: backedUpFiles(deps), to: servedFiles(deps) };
  const lacking = ({ sha256 }: StoredFile) => {
    throw new Error(`the object ${sha256} has changed since its verification`);
  };
  return copyFiles(files, { ...places, lacking }, checkpoint);
}

const NOTHING_TO_SERVE = fault(
  "nothing_published",
  "no catalog was published when the backup was made: there is nothing to serve",
);

/** Adds the missing rows of some parts. A row that exists stays as it is. */
export async function restoreTables(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const manifest = await manifestOf(deps, job);
  const tables = new Map(restoredTables(manifest));
  const parts = manifest.parts.filter((part) => tables.has(tableOf(part) ?? ""));
  const due = parts.slice(checkpoint.done, checkpoint.done + PARTS_RESTORED_PER_STEP);
  for (const part of due) {
    const unpacked = unpackPart(part, await deps.backups.readPart(manifest.id, part.name));
    if (!unpacked.ok) return failWith(unpacked.fault);
    const table = tableOf(part) ?? "";
    const rows = unpacked.lines.map((line) => JSON.parse(line));
    await deps.database.addRows(table, tables.get(table)?.columns ?? [], rows);
  }
  return countUp(checkpoint, due.length, parts.length);
}

/**
 * Replaces the versions in the transaction that ends this stage. It publishes the restored catalog as a
 * new version, above every generation of the coordinator, the stores and the backup. Ingestion is
 * paused without an end, so that no run publishes again what the restore has replaced.
 */
export async function replaceVersions(
  deps: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const saved = await restorable(deps, await manifestOf(deps, job));
  const served = await servedGeneration(deps);
  return nextStage(checkpoint, () => publish(deps, job, saved, served));
}

function publish(
  { state, recordVersion, now }: Pick<StepDependencies, "state" | "recordVersion" | "now">,
  { backup_id, requested_by: by, warning }: BackupJob,
  { pause, ledger, versions }: SavedState,
  served: number,
): Partial<BackupJob> {
  const at = timeText(now());
  const note = `backup ${backup_id} was restored`;
  const [restored] = versions;
  if (restored === undefined) throw new Error(NOTHING_TO_SERVE.message);
  state.pauseWithoutEnd(pause?.until === null ? pause : { at, by, note, until: null });
  // A paused run would publish, after the resume, what it fetched before the restore.
  state.cancelPausedRun({ at, by, note });
  const above = Math.max(served, state.lastGeneration());
  state.replaceVersions(versions);
  const { generation } = recordVersion(restored, { at, above });
  if (ledger !== null) state.recordLedger(ledger);
  state.setHistoryLost(null);
  const warnings = [warning ?? [], ledger === null ? LEDGER_MISSING : []].flat();
  const withWarning = warnings.length > 0 && { warning: warnings.join(" ") };
  return { generation, paused: true, ...withWarning };
}

const LEDGER_MISSING =
  "The backup has no ledger of a last run, so the next run compares upstream with that of the restored version: changes that were accepted later wait again.";

/** Returns the highest generation in the stores that readers would keep: they accept only a higher one. */
async function servedGeneration({ store }: StepDependencies): Promise<number> {
  let highest = 0;
  for (const replica of ["r2", "kv"] as const) {
    const copy = await store.readManifest(replica);
    if (copy.ok && isAdoptable(copy.value.generation))
      highest = Math.max(highest, copy.value.generation);
    else if (!copy.ok && copy.fault === "unreadable") throw new Error(copy.detail);
  }
  return highest;
}

/** Replicates the restored catalog and writes the manifests of the earlier versions. */
export async function replicateRestored(
  deps: StepDependencies,
  { checkpoint, job }: StepContext,
): Promise<BackupStepResult> {
  const { state, store, replicate } = deps;
  await replicate(job.generation ?? 0);
  // After a rollback since then, the manifests of the retained versions are there.
  if (state.currentVersion()?.generation === job.generation)
    for (const version of state.versions()) await store.writeGeneration(version);
  return nextStage(checkpoint);
}

/** Reads the restorable state of a backup that this job has verified. Throws if it is gone. */
async function restorable(deps: StepDependencies, manifest: BackupManifest): Promise<SavedState> {
  const read = await readState(deps.backups, manifest);
  if (!read.ok) throw new Error(read.fault.message);
  const { pause, ledger, versions } = read.state;
  const isWhole = ledger !== null && !manifest.missing.includes(ledger.accepted);
  return {
    pause,
    ledger: isWhole ? ledger : null,
    versions: wholeVersions(versions, manifest.missing),
  };
}

/** Reads the manifest of a backup that this job has verified. Throws if it is gone. */
async function manifestOf(
  { backups }: StepDependencies,
  { backup_id: id }: BackupJob,
): Promise<BackupManifest> {
  const parsed = parseManifest(await backups.readManifest(id), id);
  if (!parsed.ok) throw new Error(parsed.fault.message);
  return parsed.manifest;
}

function restoredTables({ tables }: BackupManifest) {
  return Object.entries(tables).filter(([name]) => !NEVER_RESTORED.includes(name));
}
