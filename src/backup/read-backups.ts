/** Reads backups from R2, which is the only record of them. */
import type { BackupStore } from "../storage/backup-store.ts";
import { isBackupId, timeOfId } from "./backup-id.ts";
import type { KeptBackup } from "./retention.ts";
import { type ParsedManifest, parseManifest } from "./parse-manifest.ts";
import { isGood, parseVerdict, type Verdict } from "./verdict.ts";

/** A stored backup, complete or not. */
export interface FoundBackup {
  readonly id: string;
  readonly parsed: ParsedManifest;
  readonly verdict: Verdict | null;
  readonly pinned: boolean;
}

/** Lists the ids of all backups, ascending and therefore by time. Ignores other folders. */
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

/** Selects the fields for retention; undefined if the backup is not complete. */
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

/** The newest complete backup, and the newest good one. */
export interface Newest {
  readonly whole: FoundBackup | null;
  readonly good: FoundBackup | null;
}

/** Reads backups from the newest backwards until it has found both, at most `lookBack` of them. */
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
