import type { BackupStore } from "../storage/backup-store.ts";
import { again, isBackup, next, type StepContext, type StepResult } from "./job.ts";
import type { Item, ItemReader } from "./job-items.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { parseManifest } from "./parse-manifest.ts";
import { asKept, type FoundBackup, listIds, readBackup } from "./read-backups.ts";
import { expired } from "./retention.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Most backups to read in a step. */
const BACKUPS_PER_STEP = 50;
const READS_AT_A_TIME = 6;
/** Minimum age for deletion: a younger file may belong to a backup that somebody is copying in. */
const GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Reads all backups, some in each step. Then deletes expired backups, remains of incomplete backups
 * and unreferenced objects.
 *
 * No other job writes a backup meanwhile, because jobs run one at a time. Somebody may copy a
 * backup into the bucket, so files younger than a day stay. Accepted race: an operator may pin a
 * backup at the moment of its deletion, and lose it.
 */
export async function retain(deps: StepDependencies, context: StepContext): Promise<StepResult> {
  const { backups } = deps;
  const { checkpoint } = context;
  const ids = await listIds(backups);
  const due = ids.filter((id) => id > checkpoint.after).slice(0, BACKUPS_PER_STEP);
  const last = due.at(-1);
  if (last === undefined) return prune(deps, context);
  const found = await mapConcurrently(due, READS_AT_A_TIME, (id) => readBackup(backups, id));
  const done = checkpoint.done + due.length;
  return again({ ...checkpoint, done, after: last }, ids.length, found.flatMap(itemsOf));
}

/** Lists a complete backup and its objects, for `prune`. */
function itemsOf(found: FoundBackup): Item[] {
  const kept = asKept(found);
  if (kept === undefined || !found.parsed.ok) return [];
  return [
    { list: "looked_at", key: kept.id, value: kept },
    ...found.parsed.manifest.objects.map(({ sha256 }): Item => ({
      list: "named",
      key: sha256,
      value: null,
    })),
  ];
}

async function prune(
  { backups, coordinator, now, log }: StepDependencies,
  { checkpoint, items }: StepContext,
): Promise<StepResult> {
  const open = coordinator.jobs.open().filter(isBackup);
  const awaited = new Set(open.map(({ job }) => job.backup_id));
  const ids = await listIds(backups);
  const whole = items.all("looked_at").filter(({ id }) => ids.includes(id));
  const others = ids.filter((id) => !items.has("looked_at", id));
  for (const id of expired(whole, now()).filter((expiredId) => !awaited.has(expiredId)))
    if ((await backups.readNote(id, "pin")) === null) await backups.deleteBackup(id);
  const unread: string[] = [];
  for (const id of others) if (await blocksPruning(backups, id, now())) unread.push(id);
  if (unread.length === 0) await deleteUnnamed(backups, items, now());
  else log("warn", "backup_objects_kept", { unread });
  return next(checkpoint, { apply: () => ({ kept_for: unread }) });
}

/**
 * Whether a backup may reference objects that are not in `named`: it has just arrived, a newer
 * Worker wrote its manifest, or its manifest is damaged and the backup has changed within a day.
 * Nobody can restore a backup with an older damage. Deletes a backup that has had no manifest for a
 * day.
 */
async function blocksPruning(backups: BackupStore, id: string, now: number): Promise<boolean> {
  const parsed = parseManifest(await backups.readManifest(id), id);
  if (parsed.ok || parsed.fault.code === "future_format") return true;
  const changedAt = await backups.changedAt(id);
  const isOld = changedAt !== null && now - changedAt > GRACE_MS;
  if (parsed.fault.code !== "manifest_missing") return !isOld;
  if (isOld) await backups.deleteBackup(id);
  return false;
}

async function deleteUnnamed(backups: BackupStore, items: ItemReader, now: number): Promise<void> {
  for await (const page of backups.objects()) {
    const unnamed = page.filter(
      ({ sha256, storedAt }) => now - storedAt > GRACE_MS && !items.has("named", sha256),
    );
    await backups.deleteObjects(unnamed.map(({ sha256 }) => sha256));
  }
}
