/** Reads backups from R2, which is the only record of them. */
import type { BackupStore } from "../storage/backup-store.ts";
import { isAhead } from "../platform/time.ts";
import { isBackupId, timeOfId } from "../schemas/backup.ts";
import {
  type BackupManifest,
  type ParsedManifest,
  parseManifest,
  tableOf,
  unpackPart,
} from "./format.ts";
import { type ReadState, readStateLines } from "./state-part.ts";
import { parseVerdict, type Verdict } from "./verdict.ts";

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

/** Selects the ids whose times do not lie ahead of now. */
function onTime(ids: readonly string[], now: number): string[] {
  return ids.filter((id) => !isAhead(timeOfId(id), now));
}

/** Whether a backup has a time ahead of now, so that it cannot be the newest. */
export function isBackupAhead({ id, parsed }: FoundBackup, now: number): boolean {
  const finishedAt = parsed.ok ? parsed.manifest.finished_at : timeOfId(id);
  return isAhead(timeOfId(id), now) || isAhead(finishedAt, now);
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

/** Reads and verifies the coordinator's state in a backup. */
export async function readState(
  backups: BackupStore,
  { id, parts }: Pick<BackupManifest, "id" | "parts">,
): Promise<ReadState> {
  const lines: string[] = [];
  for (const part of parts.filter((candidate) => tableOf(candidate) === null)) {
    const unpacked = unpackPart(part, await backups.readPart(id, part.name));
    if (!unpacked.ok) return unpacked;
    lines.push(...unpacked.lines);
  }
  return readStateLines(lines);
}

/** The newest complete backup, and the newest verified one; neither has a time ahead of now. */
interface Newest {
  /** Ids of those whose end alone lies ahead of now. */
  readonly skipped: readonly string[];
  readonly whole: FoundBackup | null;
  readonly verified: FoundBackup | null;
}

/** Reads backups from the newest backwards until it has found both, at most `lookBack` of them. */
export async function findNewest(
  backups: BackupStore,
  ids: readonly string[],
  { now, lookBack = Infinity }: { readonly now: number; readonly lookBack?: number },
): Promise<Newest> {
  let whole: FoundBackup | null = null;
  const skipped: string[] = [];
  for (const id of onTime(ids, now).slice(-lookBack).toReversed()) {
    const found = await readBackup(backups, id);
    if (!found.parsed.ok) continue;
    if (isBackupAhead(found, now)) {
      skipped.push(id);
      continue;
    }
    whole ??= found;
    if (found.verdict?.state === "verified") return { whole, verified: found, skipped };
  }
  return { whole, verified: null, skipped };
}

/** The ends of the newest backups (RFC 3339); null if there is none. */
export interface BackupTimes {
  /** What verification has found wrong with the newest complete backup; null if nothing. */
  readonly newestFailure: string | null;
  /** End of the newest complete backup. */
  readonly newestFinishedAt: string | null;
  /** End of the newest verified backup. */
  readonly newestVerifiedAt: string | null;
  /** Ids of the backups whose times lie ahead of now, so that they do not count. */
  readonly ahead: readonly string[];
}

/** Most backups to read for the newest and the newest verified one. */
const NEWEST_LOOKS_AT = 100;

/** Returns the finish times of the newest backup and of the newest verified one. */
export async function newestTimes(backups: BackupStore, now: number): Promise<BackupTimes> {
  const ids = await listIds(backups);
  const { whole, verified, skipped } = await findNewest(backups, ids, {
    now,
    lookBack: NEWEST_LOOKS_AT,
  });
  const verdict = whole?.verdict;
  return {
    newestFailure: verdict?.state === "failed" ? verdict.message : null,
    newestFinishedAt: finishOf(whole),
    newestVerifiedAt: finishOf(verified),
    ahead: [...ids.filter((id) => isAhead(timeOfId(id), now)), ...skipped],
  };
}

function finishOf(found: FoundBackup | null): string | null {
  return found?.parsed.ok === true ? found.parsed.manifest.finished_at : null;
}
