import { type BackupStatus, judgeBackups } from "../health/backup-rules.ts";
import type { BackupFacts } from "../health/facts.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import { backupBytes, type BackupTrigger, type TableFacts } from "./format.ts";
import { isOpenJob, type Job } from "./job.ts";
import {
  asKept,
  findNewest,
  type FoundBackup,
  listIds,
  type Newest,
  readBackup,
} from "./read-backups.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { timeOfId } from "./backup-id.ts";
import { expiresAt, type KeptBackup } from "./retention.ts";
import type { VerdictState } from "./verdict.ts";

/**
 * `running`: being made. `complete`: whole, as far as its manifest says. `incomplete`: without a
 * manifest. `damaged`: with a manifest that cannot be used.
 */
export const BACKUP_STATES = ["running", "complete", "incomplete", "damaged"] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

/** A backup as operators see it. Times are RFC 3339; what a manifest would say is null without one. */
export interface Backup {
  readonly id: string;
  readonly state: BackupState;
  readonly trigger: BackupTrigger | null;
  readonly note: string | null;
  readonly pinned: boolean;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  readonly sizeBytes: number | null;
  readonly parts: number | null;
  readonly objects: number | null;
  readonly tables: { readonly [name: string]: Pick<TableFacts, "rows" | "sha256"> };
  readonly generation: number | null;
  readonly catalog_sha256: string | null;
  readonly verified: {
    readonly state: VerdictState;
    readonly at: string | null;
    readonly message: string;
  };
  /** Before when retention will not delete it; null while it is not to be deleted. */
  readonly expiresAt: string | null;
  /** Why it cannot be used, of one that is incomplete or damaged. */
  readonly problem: string | null;
}

export interface BackupPage {
  readonly status: BackupStatus;
  /** Newest first. */
  readonly backups: readonly Backup[];
  /** Id of the last backup of this page; null on the last page. */
  readonly nextCursor: string | null;
  readonly total: number;
}

export interface PageRequest {
  readonly limit: number;
  /** The `nextCursor` of the page before: backups older than this id. */
  readonly cursor: string | null;
}

export interface ListingDependencies {
  readonly backups: BackupStore;
  /** Jobs, the newest first. */
  readonly jobs: () => Promise<readonly Job[]>;
  readonly now: () => number;
  /** Age from which on the newest backup is stale. */
  readonly staleAfterMs: number;
}

/** Backups that are looked at, at most, for the newest and the newest that proved good. */
const NEWEST_LOOKS_AT = 100;
/** Backups that are read at a time. */
const READS_AT_A_TIME = 10;
/** The most backups that are looked at for what retention will do. */
const RETENTION_LOOKS_AT = 200;

/** One page of backups, from all pages of R2. */
export async function listBackups(
  deps: ListingDependencies,
  { limit, cursor }: PageRequest,
): Promise<BackupPage> {
  const { backups } = deps;
  const ids = await listIds(backups);
  const older = ids.filter((id) => cursor === null || id < cursor).toReversed();
  const due = older.slice(0, limit);
  const found = await readAll(backups, due);
  const kept = await readKept(backups, ids, found);
  const open = (await deps.jobs()).filter(isOpenJob);
  return {
    status: judgeBackups(timesOf(await findNewest(backups, ids, NEWEST_LOOKS_AT)), {
      now: deps.now(),
      limits: { backupStaleMs: deps.staleAfterMs },
    }),
    backups: found.map((each) => describe(each, { kept, open, now: deps.now() })),
    nextCursor: older.length > due.length ? (due.at(-1) ?? null) : null,
    total: ids.length,
  };
}

/** A backup, whole or not; null if nothing of it is there. */
export async function findBackup(deps: ListingDependencies, id: string): Promise<Backup | null> {
  const { backups } = deps;
  const open = (await deps.jobs()).filter(isOpenJob);
  const ids = await listIds(backups);
  const isBeingMade = open.some((job) => job.kind === "run" && job.backupId === id);
  if (!ids.includes(id) && !isBeingMade) return null;
  const found = await readBackup(backups, id);
  const kept = await readKept(backups, ids, [found]);
  return describe(found, { kept, open, now: deps.now() });
}

/** When the newest backup was finished, and when the newest one that proved good. */
export async function newestTimes(backups: BackupStore): Promise<BackupFacts> {
  return timesOf(await findNewest(backups, await listIds(backups), NEWEST_LOOKS_AT));
}

function timesOf({ whole, good }: Newest): BackupFacts {
  return { newestFinishedAt: finishOf(whole), newestVerifiedAt: finishOf(good) };
}

function finishOf(found: FoundBackup | null): string | null {
  return found?.parsed.ok === true ? found.parsed.manifest.finished_at : null;
}

function readAll(backups: BackupStore, ids: readonly string[]): Promise<FoundBackup[]> {
  return mapConcurrently(ids, READS_AT_A_TIME, (id) => readBackup(backups, id));
}

/** What retention will look at: the newest backups, read unless they have been read already. */
async function readKept(
  backups: BackupStore,
  ids: readonly string[],
  known: readonly FoundBackup[],
): Promise<KeptBackup[]> {
  const byId = new Map(known.map((each) => [each.id, each]));
  const others = ids.slice(-RETENTION_LOOKS_AT).filter((id) => !byId.has(id));
  const all = [...known, ...(await readAll(backups, others))];
  return all.flatMap((each) => asKept(each) ?? []);
}

function describe(
  found: FoundBackup,
  { kept, open, now }: { kept: readonly KeptBackup[]; open: readonly Job[]; now: number },
): Backup {
  const { id, parsed, verdict, pinned } = found;
  const job = open.find((each) => (each.kind === "run" ? each.backupId : each.undo_backup_id) === id);
  const manifest = parsed.ok ? parsed.manifest : null;
  const own = kept.find((each) => each.id === id);
  const expiry = own === undefined ? null : expiresAt(own, kept, now);
  const started_at = timeText(timeOfId(id));
  return {
    id,
    state: stateOf(found, job),
    trigger: manifest?.trigger ?? job?.trigger ?? null,
    note: manifest?.note ?? job?.note ?? null,
    pinned: pinned || (job?.pin ?? false),
    started_at,
    finished_at: manifest?.finished_at ?? null,
    duration_ms: manifest === null ? null : Date.parse(manifest.finished_at) - Date.parse(started_at),
    sizeBytes: manifest === null ? null : backupBytes(manifest),
    parts: manifest?.parts.length ?? null,
    objects: manifest?.objects.length ?? null,
    tables: Object.fromEntries(
      Object.entries(manifest?.tables ?? {}).map(([name, { rows, sha256 }]) => [
        name,
        { rows, sha256 },
      ]),
    ),
    generation: manifest?.catalog?.generation ?? null,
    catalog_sha256: manifest?.catalog?.catalog_sha256 ?? null,
    verified: {
      state: verdict?.state ?? "unverified",
      at: verdict?.at ?? null,
      message: verdict?.message ?? "It has not been verified yet.",
    },
    expiresAt: expiry === null ? null : timeText(expiry),
    problem: parsed.ok || job !== undefined ? null : parsed.fault.message,
  };
}

function stateOf({ parsed }: FoundBackup, job: Job | undefined): BackupState {
  if (parsed.ok) return "complete";
  if (parsed.fault.code !== "manifest_missing") return "damaged";
  return job === undefined ? "incomplete" : "running";
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
