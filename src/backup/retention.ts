import type { BackupStore } from "../storage/backup-store.ts";
import { DAY_MS } from "../platform/time.ts";
import type { BackupTrigger, VerdictState } from "../schemas/backup.ts";
import { parseManifest } from "./format.ts";
import {
  nextStage,
  type StepContext,
  type StepDependencies,
  type BackupStepResult,
} from "./step.ts";
import { mapConcurrently } from "../platform/map-concurrently.ts";
import type { EpochMs } from "../platform/units.ts";
import { type FoundBackup, listIds, readBackup } from "./read-backups.ts";

/** A complete backup, as retention sees it. */
export interface KeptBackup {
  readonly id: string;
  readonly trigger: BackupTrigger;
  readonly started_at: EpochMs;
  readonly pinned: boolean;
  readonly verdict: VerdictState;
}

const RETAINED_AT_A_TIME = 6;
/** Minimum age for deletion. A younger file may belong to a backup that somebody is copying into the bucket. */
const GRACE_MS = DAY_MS;
/** Number of days, weeks and months of which retention keeps the best backup. */
const PERIODS_KEPT = { day: 7, week: 4, month: 6 } as const;
type Period = keyof typeof PERIODS_KEPT;
const PERIODS: readonly Period[] = ["day", "week", "month"];
/** Minimum retention of backups that cron did not make: each was made for a reason. */
const NON_CRON_RETENTION_MS = 7 * DAY_MS;

/**
 * Deletes expired backups, remains of incomplete backups and unreferenced objects.
 *
 * No other job writes a backup meanwhile, because jobs run one at a time. Somebody may copy a
 * backup into the bucket, so files younger than a day stay. Accepted race: an operator may pin a
 * backup at the moment of its deletion, and lose it.
 */
export async function retain(
  { backups, openBackups, now, log }: StepDependencies,
  { checkpoint }: StepContext,
): Promise<BackupStepResult> {
  const named = new Set<string>();
  const read = await mapConcurrently(await listIds(backups), RETAINED_AT_A_TIME, async (id) => {
    const found = await readBackup(backups, id);
    if (!found.parsed.ok) return [];
    for (const { sha256 } of found.parsed.manifest.objects) named.add(sha256);
    return found;
  });
  const complete = read.flat();
  const awaited = new Set(openBackups());
  for (const id of expiredBackups(
    complete.flatMap((found) => asKept(found) ?? []),
    now(),
  ))
    if (!awaited.has(id)) await backups.deleteBackup(id);
  const readIds = new Set(complete.map(({ id }) => id));
  const unread: string[] = [];
  for (const id of await listIds(backups))
    if (!readIds.has(id) && (await blocksPruning(backups, id, now()))) unread.push(id);
  if (unread.length === 0) await deleteUnnamed(backups, named, now());
  else log("warn", "backup_objects_kept", { unread });
  return nextStage(checkpoint, () => ({ kept_for: unread }));
}

/** Selects the fields for retention; undefined if the backup is not complete. */
function asKept({ id, parsed, verdict, pinned, startedAt }: FoundBackup): KeptBackup | undefined {
  if (!parsed.ok) return undefined;
  return {
    id,
    trigger: parsed.manifest.trigger,
    started_at: startedAt,
    pinned,
    verdict: verdict?.state ?? "unverified",
  };
}

/**
 * Whether a backup may reference unknown objects: it was just copied into the bucket, a newer Worker
 * wrote its manifest, or its manifest is damaged and the backup has changed within a day. A backup that
 * was damaged for longer cannot be restored. Deletes a backup that has had no manifest for a day.
 */
async function blocksPruning(backups: BackupStore, id: string, now: EpochMs): Promise<boolean> {
  const parsed = parseManifest(await backups.readManifest(id), id);
  if (parsed.ok || parsed.fault.code === "future_format") return true;
  const changedAt = await backups.changedAt(id);
  const isOld = changedAt !== null && now - changedAt >= GRACE_MS;
  if (parsed.fault.code !== "manifest_missing") return !isOld;
  if (isOld) await backups.deleteBackup(id);
  return false;
}

async function deleteUnnamed(
  backups: BackupStore,
  named: ReadonlySet<string>,
  now: EpochMs,
): Promise<void> {
  for await (const page of backups.objects()) {
    const unnamed = page.filter(
      ({ sha256, storedAt }) => now - storedAt >= GRACE_MS && !named.has(sha256),
    );
    await backups.deleteObjects(unnamed.map(({ sha256 }) => sha256));
  }
}

/**
 * Selects the backups to delete. Pure. Retention keeps
 *
 * - the best backup of each of the last 7 days, 4 weeks (from Monday, UTC) and 6 months that have
 *   one: preferably a verified one, then the newest,
 * - pinned backups,
 * - backups younger than a week that cron did not make,
 * - the newest backup and the newest verified one.
 */
export function expiredBackups(backups: readonly KeptBackup[], now: EpochMs): string[] {
  const protectedIds = protectedBackups(backups);
  for (const period of PERIODS)
    for (const { id } of bestOfEach(period, backups).slice(0, PERIODS_KEPT[period]))
      protectedIds.add(id);
  return backups
    .filter((backup) => !protectedIds.has(backup.id) && !backup.pinned)
    .filter((backup) => !isRecentNonCron(backup, now))
    .map(({ id }) => id);
}

/** Returns the ids of the newest backup and of the newest verified one, which nothing may delete. */
function protectedBackups(backups: readonly KeptBackup[]): Set<string> {
  const newestFirst = backups.toSorted((a, b) => b.started_at - a.started_at);
  const newest = newestFirst[0]?.id;
  const verified = newestFirst.find(({ verdict }) => verdict === "verified")?.id;
  return new Set([newest, verified].filter((id) => id !== undefined));
}

function isRecentNonCron({ trigger, started_at }: KeptBackup, now: EpochMs): boolean {
  return trigger !== "cron" && now - started_at < NON_CRON_RETENTION_MS;
}

/** Selects the best backup of each period that has one, the newest period first. */
function bestOfEach(period: Period, backups: readonly KeptBackup[]): KeptBackup[] {
  const groups = Map.groupBy(backups, ({ started_at }) => startOf(period, started_at));
  return [...groups]
    .toSorted(([a], [b]) => b - a)
    .flatMap(([, group]) => group.toSorted(compareWorth).slice(0, 1));
}

const WORTH = { failed: 0, unverified: 1, verified: 2 } as const;

function compareWorth(a: KeptBackup, b: KeptBackup): number {
  return WORTH[b.verdict] - WORTH[a.verdict] || b.started_at - a.started_at;
}

function startOf(period: Period, time: EpochMs): EpochMs {
  const date = new Date(time);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const day = Math.floor(time / DAY_MS);
  // Day 0, 1970-01-01, was a Thursday: three days after a Monday.
  return (period === "day" ? day : day - ((day + 3) % 7)) * DAY_MS;
}
