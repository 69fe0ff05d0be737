/** Reads backups from R2, which is the only record of them. */
import { BACKUP_OBJECTS_FOLDER } from "../storage/keys.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import { CLOCK_SKEW_MS, timeText } from "../platform/time.ts";
import type { EpochMs, Instant } from "../platform/units.ts";
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

export interface FoundBackup {
  readonly id: string;
  readonly parsed: ParsedManifest;
  readonly verdict: Verdict | null;
  readonly pinned: boolean;
  /** The time of the request, by its id or its manifest in R2, whichever is earlier. */
  readonly startedAt: EpochMs;
  /** The end time, likewise. */
  readonly finishedAt: EpochMs;
  /** Whether R2 stored its manifest before these times, because a clock was wrong. */
  readonly isMisdated: boolean;
}

/** Lists the ids of all backups, ascending and therefore by time, and the names of other folders. */
export async function listFolders(backups: BackupStore): Promise<[string[], string[]]> {
  const folders = await backups.folders();
  const isOther = (name: string) => !isBackupId(name) && name !== BACKUP_OBJECTS_FOLDER;
  return [folders.filter(isBackupId), folders.filter(isOther)];
}

export async function listIds(backups: BackupStore): Promise<string[]> {
  const [ids] = await listFolders(backups);
  return ids;
}

/** Reads a backup. R2's times limit the recorded ones, which may come from a wrong clock. */
export async function readBackup(backups: BackupStore, id: string): Promise<FoundBackup> {
  const [stored, verdict, pin] = await Promise.all([
    backups.findManifest(id),
    backups.readNote(id, "verdict"),
    backups.readNote(id, "pin"),
  ]);
  const parsed = parseManifest(stored?.text ?? null, id);
  const requestedAt = timeOfId(id);
  const endedAt = parsed.ok ? Date.parse(parsed.manifest.finished_at) : requestedAt;
  const storedAt = stored?.storedAt ?? Infinity;
  return {
    id,
    parsed,
    verdict: parseVerdict(verdict),
    pinned: pin !== null,
    startedAt: Math.min(requestedAt, storedAt),
    finishedAt: Math.min(endedAt, storedAt),
    isMisdated: Math.max(requestedAt, endedAt) > storedAt + CLOCK_SKEW_MS,
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

/** The newest complete backup, and the newest verified one. */
interface Newest {
  readonly whole: FoundBackup | null;
  readonly verified: FoundBackup | null;
  /** Ids of the backups with wrong times, among those that were read. */
  readonly misdated: readonly string[];
}

/** Reads backups from the last id backwards until no other can be newer, at most `lookBack` of them. */
export async function findNewest(
  backups: BackupStore,
  ids: readonly string[],
  lookBack = Infinity,
): Promise<Newest> {
  let whole: FoundBackup | null = null;
  let verified: FoundBackup | null = null;
  const misdated: string[] = [];
  for (const id of ids.slice(-lookBack).toReversed()) {
    if (verified !== null && timeOfId(id) <= verified.startedAt) break;
    const found = await readBackup(backups, id);
    if (!found.parsed.ok) continue;
    if (found.isMisdated) misdated.push(id);
    whole = newerOf(whole, found);
    if (found.verdict?.state === "verified") verified = newerOf(verified, found);
  }
  return { whole, verified, misdated };
}

function newerOf(known: FoundBackup | null, found: FoundBackup): FoundBackup {
  return known !== null && known.startedAt >= found.startedAt ? known : found;
}

/** The ends of the newest backups; null if there is none. */
export interface BackupTimes {
  /** The problem that verification has found in the newest complete backup; null if none. */
  readonly newestFailure: Instant | null;
  readonly newestFinishedAt: Instant | null;
  readonly newestVerifiedAt: Instant | null;
  /** Ids of the last backups with times after R2 stored them. */
  readonly misdated: readonly string[];
}

/** Maximum number of backups to read for the newest and the newest verified one. */
const NEWEST_LOOKS_AT = 100;

export async function newestTimes(backups: BackupStore): Promise<BackupTimes> {
  const ids = await listIds(backups);
  const { whole, verified, misdated } = await findNewest(backups, ids, NEWEST_LOOKS_AT);
  const verdict = whole?.verdict;
  return {
    newestFailure: verdict?.state === "failed" ? verdict.message : null,
    newestFinishedAt: whole && timeText(whole.finishedAt),
    newestVerifiedAt: verified && timeText(verified.finishedAt),
    misdated,
  };
}
