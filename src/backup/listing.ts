import { type Backup, type BackupPage, type BackupState, timeOfId } from "../schemas/backup.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import { pageOf, type PageQuery } from "../storage/page.ts";
import { durationOf, timeText } from "../platform/time.ts";
import { backupBytes } from "./format.ts";
import type { BackupJob } from "../schemas/backup-job.ts";
import { type FoundBackup, listFolders, listIds, readBackup } from "./read-backups.ts";
import { mapConcurrently } from "../platform/map-concurrently.ts";

export interface ListingDependencies {
  readonly backups: BackupStore;
  readonly jobs: () => Promise<readonly BackupJob[]>;
}

const LISTED_AT_A_TIME = 10;
const OTHER_FOLDERS_MAX = 100;

type BackupList =
  | { readonly ok: true; readonly body: BackupPage }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/** Lists one page of backups, including those not made yet. */
export async function listBackups(
  deps: ListingDependencies,
  query: PageQuery,
): Promise<BackupList> {
  const { backups } = deps;
  const [stored, otherFolders] = await listFolders(backups);
  const open = await openJobs(deps);
  const ids = [...new Set([...stored, ...open.map((job) => job.backup_id)])];
  const newestFirst = ids.toSorted().toReversed();
  const page = pageOf(newestFirst, query, { keyOf: (id) => id, descending: true });
  if (!page.ok) return page;
  const found = await mapConcurrently(page.items, LISTED_AT_A_TIME, (id) =>
    readBackup(backups, id),
  );
  return {
    ok: true,
    body: {
      backups: found.map((backup) => describe(backup, jobOf(open, backup.id))),
      next_cursor: page.nextCursor,
      total: page.total,
      other_folders: otherFolders.slice(0, OTHER_FOLDERS_MAX),
    },
  };
}

async function openJobs({ jobs }: ListingDependencies): Promise<readonly BackupJob[]> {
  return (await jobs()).filter(({ kind, finished_at }) => kind === "run" && finished_at === null);
}

function jobOf(open: readonly BackupJob[], id: string): BackupJob | undefined {
  return open.find((job) => job.backup_id === id);
}

/** Finds a backup, complete or not; null if it does not exist. */
export async function findBackup(deps: ListingDependencies, id: string): Promise<Backup | null> {
  const { backups } = deps;
  const open = await openJobs(deps);
  const ids = await listIds(backups);
  if (!ids.includes(id) && jobOf(open, id) === undefined) return null;
  return describe(await readBackup(backups, id), jobOf(open, id));
}

function describe(found: FoundBackup, job: BackupJob | undefined): Backup {
  const { id, parsed, verdict, pinned, isMisdated } = found;
  const manifest = parsed.ok ? parsed.manifest : null;
  const queuedAt = timeText(timeOfId(id));
  const startedAt = manifest?.started_at ?? (job === undefined ? queuedAt : job.started_at);
  return {
    id,
    state: stateOf(found, job),
    trigger: manifest?.trigger ?? job?.trigger ?? null,
    note: manifest?.note ?? job?.note ?? null,
    pinned: pinned || (job?.pin ?? false),
    started_at: startedAt,
    finished_at: manifest?.finished_at ?? null,
    duration_ms: manifest === null ? null : durationOf(manifest.started_at, manifest.finished_at),
    size_bytes: manifest === null ? null : backupBytes(manifest),
    parts: manifest?.parts.length ?? null,
    objects: manifest?.objects.length ?? null,
    tables: Object.fromEntries(
      Object.entries(manifest?.tables ?? {}).map(([name, { rows }]) => [name, { rows }]),
    ),
    generation: manifest?.catalog?.generation ?? null,
    catalog_sha256: manifest?.catalog?.catalog_sha256 ?? null,
    verified: {
      state: verdict?.state ?? "unverified",
      at: verdict?.at ?? null,
      message: verdict?.message ?? "It has not been verified yet.",
    },
    ahead: isMisdated,
    problem: job === undefined ? problemOf(found) : null,
  };
}

function problemOf({ parsed, isMisdated }: FoundBackup): string | null {
  if (!parsed.ok) return parsed.fault.message;
  return isMisdated
    ? "It is dated after R2 stored it: a clock was wrong. The time at which R2 stored it counts."
    : null;
}

function stateOf({ parsed }: FoundBackup, job: BackupJob | undefined): BackupState {
  if (parsed.ok) return "complete";
  if (parsed.fault.code !== "manifest_missing") return "damaged";
  if (job === undefined) return "incomplete";
  return job.state === "queued" ? "queued" : "running";
}
