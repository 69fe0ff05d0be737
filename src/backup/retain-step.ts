import type { BackupStore } from "../storage/backup-store.ts";
import { again, next, type Checkpoint, type StepContext, type StepResult } from "./job.ts";
import { asKept, listIds, readBackup } from "./read-backups.ts";
import { expired } from "./retention.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Backups looked at in one step. */
const BACKUPS_PER_STEP = 50;
/** What nobody names may belong to an upload that is under way; it is left alone for this long. */
const GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Looks at all backups, some in each step, and then deletes those that retention lets go, remains
 * of backups that never became whole, and objects that no backup names. No backup is being written
 * meanwhile, since there is one job at a time. While a manifest cannot be read it is not known what
 * it names, so no object is deleted.
 */
export async function retain(
  deps: StepDependencies,
  { checkpoint, job }: StepContext,
): Promise<StepResult> {
  const { backups, now } = deps;
  const ids = await listIds(backups);
  const { done } = checkpoint;
  if (done < ids.length) {
    let { seen } = checkpoint;
    for (const id of ids.slice(done, done + BACKUPS_PER_STEP)) seen = await look(backups, seen, id);
    return again({ ...checkpoint, done: done + BACKUPS_PER_STEP, seen }, ids.length);
  }
  const { seen } = checkpoint;
  for (const id of expired(seen.backups, now())) await backups.deleteBackup(id);
  const whole = new Set(seen.backups.map(({ id }) => id));
  for (const id of ids)
    if (!whole.has(id) && id !== job.backupId) await deleteRemains(backups, id, now());
  if (seen.isWhole) await deleteUnnamed(backups, new Set(seen.objects), now());
  return next(checkpoint);
}

async function look(
  backups: BackupStore,
  seen: Checkpoint["seen"],
  id: string,
): Promise<Checkpoint["seen"]> {
  const found = await readBackup(backups, id);
  const kept = asKept(found);
  if (!found.parsed.ok || kept === undefined) {
    const isUnreadable = !found.parsed.ok && found.parsed.fault.code !== "manifest_missing";
    return { ...seen, isWhole: seen.isWhole && !isUnreadable };
  }
  const named = found.parsed.manifest.objects.map(({ sha256 }) => sha256);
  return {
    ...seen,
    backups: [...seen.backups, kept],
    objects: [...new Set([...seen.objects, ...named])],
  };
}

/** Deletes parts without a manifest, once nobody has added to them for a while. */
async function deleteRemains(backups: BackupStore, id: string, now: number): Promise<void> {
  if ((await backups.readManifest(id)) !== null) return;
  const changedAt = await backups.changedAt(id);
  if (changedAt !== null && now - changedAt > GRACE_MS) await backups.deleteBackup(id);
}

async function deleteUnnamed(
  backups: BackupStore,
  named: ReadonlySet<string>,
  now: number,
): Promise<void> {
  for await (const page of backups.objects()) {
    const unnamed = page.filter(
      ({ sha256, storedAt }) => !named.has(sha256) && now - storedAt > GRACE_MS,
    );
    await backups.deleteObjects(unnamed.map(({ sha256 }) => sha256));
  }
}
