import type { BackupStore } from "../storage/backup-store.ts";
import { again, next, type StepContext, type StepResult } from "./job.ts";
import type { Item, ItemReader } from "./job-items.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { asKept, type FoundBackup, listIds, readBackup } from "./read-backups.ts";
import { expired } from "./retention.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Backups looked at in one step, and read at a time. */
const BACKUPS_PER_STEP = 50;
const READS_AT_A_TIME = 6;
/** What nobody names may belong to an upload that is under way; it is left alone for this long. */
const GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Looks at all backups, some in each step, and then deletes those that retention lets go, remains
 * of backups that never became whole, and objects that no backup names.
 *
 * No job writes a backup meanwhile, since there is one job at a time; an uploaded one takes its turn
 * before the deletions, and is noticed, or after them, and is refused if they took what it needs. No
 * object is deleted while there is a manifest that has not been looked at or cannot be read, since
 * it is not known what it names. A backup that is pinned in the moment of its deletion may be lost.
 */
export async function retain(deps: StepDependencies, context: StepContext): Promise<StepResult> {
  const { backups, turns } = deps;
  const { checkpoint } = context;
  const ids = await listIds(backups);
  const due = ids.filter((id) => id > checkpoint.after).slice(0, BACKUPS_PER_STEP);
  const last = due.at(-1);
  if (last === undefined) return turns.take(() => letGo(deps, context));
  const found = await mapConcurrently(due, READS_AT_A_TIME, (id) => readBackup(backups, id));
  const done = checkpoint.done + due.length;
  return again({ ...checkpoint, done, after: last }, ids.length, found.flatMap(noteLook));
}

/** What is to be known of a backup later: nothing unless it is whole. */
function noteLook(found: FoundBackup): Item[] {
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

async function letGo(
  { backups, now }: StepDependencies,
  { checkpoint, items }: StepContext,
): Promise<StepResult> {
  const ids = await listIds(backups);
  const whole = items.all("looked_at").filter(({ id }) => ids.includes(id));
  const others = ids.filter((id) => !items.has("looked_at", id));
  for (const id of expired(whole, now()))
    if ((await backups.readNote(id, "pin")) === null) await backups.deleteBackup(id);
  let isAllKnown = true;
  for (const id of others)
    if ((await backups.readManifest(id)) !== null) isAllKnown = false;
    else await deleteRemains(backups, id, now());
  if (isAllKnown) await deleteUnnamed(backups, items, now());
  return next(checkpoint);
}

/** Deletes parts without a manifest, once nobody has added to them for a while. */
async function deleteRemains(backups: BackupStore, id: string, now: number): Promise<void> {
  const changedAt = await backups.changedAt(id);
  if (changedAt !== null && now - changedAt > GRACE_MS) await backups.deleteBackup(id);
}

async function deleteUnnamed(backups: BackupStore, items: ItemReader, now: number): Promise<void> {
  for await (const page of backups.objects()) {
    const unnamed = page.filter(
      ({ sha256, storedAt }) => now - storedAt > GRACE_MS && !items.has("named", sha256),
    );
    await backups.deleteObjects(unnamed.map(({ sha256 }) => sha256));
  }
}
