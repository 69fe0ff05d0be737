/** Backups as they lie in R2, which alone says what there is. */
import type { BackupStore } from "../storage/backup-store.ts";
import { isBackupId, timeOfId } from "./backup-id.ts";
import type { KeptBackup } from "./retention.ts";
import { type ParsedManifest, parseManifest } from "./parse-manifest.ts";
import { isGood, parseVerdict, type Verdict } from "./verdict.ts";

/** A backup as it is stored, whole or not. */
export interface FoundBackup {
  readonly id: string;
  readonly parsed: ParsedManifest;
  readonly verdict: Verdict | null;
  readonly pinned: boolean;
}

/** Ids of all folders of backups, ascending, and so by time. Other folders are left alone. */
export async function listIds(backups: BackupStore): Promise<string[]> {
  return (await backups.folders()).filter(isBackupId);
}

export async function readBackup(backups: BackupStore, id: string): Promise<FoundBackup> {
  const [text, verdict, pin] = await Promise.all([
    backups.readManifest(id),
    backups.readNote(id, "verdict"),
    backups.readNote(id, "pin"),
  ]);
  return {
    id,
    parsed: parseManifest(text, id),
    verdict: parseVerdict(verdict),
    pinned: pin !== null,
  };
}

/** What retention looks at; undefined if the backup is not whole. */
export function asKept({ id, parsed, verdict, pinned }: FoundBackup): KeptBackup | undefined {
  if (!parsed.ok) return undefined;
  return {
    id,
    trigger: parsed.manifest.trigger,
    started_at: timeOfId(id),
    pinned,
    verdict: verdict?.state ?? "unverified",
  };
}

/** The newest whole backup, and the newest that proved good. */
export interface Newest {
  readonly whole: FoundBackup | null;
  readonly good: FoundBackup | null;
}

/** Looks from the newest backup backwards, at no more of them than it must or `lookBack` allows. */
export async function findNewest(
  backups: BackupStore,
  ids: readonly string[],
  lookBack = Infinity,
): Promise<Newest> {
  let whole: FoundBackup | null = null;
  for (const id of ids.slice(-lookBack).toReversed()) {
    const found = await readBackup(backups, id);
    if (!found.parsed.ok) continue;
    whole ??= found;
    if (isGood(found.verdict?.state ?? "unverified")) return { whole, good: found };
  }
  return { whole, good: null };
}
