import { type JobRecord, newRecord } from "./jobs.ts";
import type { JobTable } from "./tables.ts";
import { timeText } from "../platform/time.ts";
import type { BackupTrigger } from "../schemas/backup.ts";
import { BACKUP, type BackupJob, type JobKind } from "../schemas/backup-job.ts";
import { type BackupCheckpoint, FIRST_BACKUP_CHECKPOINT } from "../backup/step.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { compareLocales } from "../catalog/locale-settings.ts";
import { parseManifest } from "../backup/format.ts";
import { findNewest, listIds, readBackup, readState } from "../backup/read-backups.ts";
import { wholeVersions } from "../backup/state-part.ts";

export type BackupRecord = JobRecord<BackupJob, BackupCheckpoint>;

export function isBackup(record: JobRecord): record is BackupRecord {
  return record.work === BACKUP;
}

const MAX_OPEN_JOBS = 30;

export interface BackupRequest {
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  readonly pin: boolean;
  readonly requested_by: string;
  readonly idempotencyKey: string;
}

/** A new job; or, if not `changed`, the job of the repeated request. */
export interface AcceptedJob {
  readonly ok: true;
  readonly changed: boolean;
  readonly job: BackupJob;
}

export type JobRequest = Pick<BackupRequest, "requested_by" | "note" | "idempotencyKey">;

export type JobResult =
  | AcceptedJob
  | { readonly ok: false; readonly reason: "not_found" | "queue_full" }
  | { readonly ok: false; readonly reason: "foreign_stores"; readonly detail: string };

export type RemoveResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "in_use" | "pinned" | "newest" | "newest_verified";
    };

/** Queues backup jobs, which the engine runs, and deletes backups. */
export class BackupJobs {
  readonly #platform: CoordinatorPlatform;
  readonly #jobs: JobTable;

  constructor(platform: CoordinatorPlatform) {
    this.#platform = platform;
    this.#jobs = platform.state.jobs;
  }

  backUp(request: BackupRequest): Promise<JobResult> {
    return this.#accept({ kind: "run", backupId: null, request });
  }

  /** Queues the backup of a cron tick, unless the stores are foreign. */
  async backUpOnce(tick: string): Promise<void> {
    await this.#accept({ kind: "run", backupId: null, request: byCron(tick) });
  }

  /** Queues the verification of the newest backup, if there is one, for a cron tick. */
  async verifyNewestOnce(tick: string): Promise<void> {
    const { backups } = this.#platform;
    const { whole } = await findNewest(backups, await listIds(backups));
    if (whole !== null)
      await this.#accept({ kind: "verify", backupId: whole.id, request: byCron(tick) });
  }

  verify(id: string, request: JobRequest): Promise<JobResult> {
    return this.#workWith("verify", id, request);
  }

  /** Queues a backup of the present state, a verification and the restore, unless the stores are foreign. */
  restore(id: string, request: JobRequest): Promise<JobResult> {
    return this.#workWith("restore", id, request);
  }

  /** Deletes a backup, unless it is in use, pinned, the newest or the newest verified one. */
  async remove(id: string): Promise<RemoveResult> {
    const { backups } = this.#platform;
    const ids = await listIds(backups);
    if (!ids.includes(id)) return { ok: false, reason: "not_found" };
    const { whole, verified } = await findNewest(backups, ids);
    if (verified?.id === id) return { ok: false, reason: "newest_verified" };
    if (whole?.id === id) return { ok: false, reason: "newest" };
    if ((await readBackup(backups, id)).pinned) return { ok: false, reason: "pinned" };
    const open = this.#jobs.open().filter(isBackup);
    if (open.some(({ job }) => job.backup_id === id)) return { ok: false, reason: "in_use" };
    await backups.deleteBackup(id);
    return { ok: true };
  }

  async #workWith(kind: JobKind, backupId: string, request: JobRequest): Promise<JobResult> {
    const manifest = await this.#platform.backups.readManifest(backupId);
    if (manifest === null) return { ok: false, reason: "not_found" };
    const byHand = { trigger: "manual", pin: false, ...request } as const;
    const warning = kind === "restore" ? await this.#warningOf(backupId, manifest) : "";
    return this.#accept({ kind, backupId, request: byHand, warning });
  }

  /**
   * Describes how a restore's locales would differ from the settings; empty if they would not, or if
   * the backup is damaged.
   */
  async #warningOf(id: string, text: string): Promise<string> {
    const { backups, localeSettings } = this.#platform;
    const parsed = parseManifest(text, id);
    const read = parsed.ok ? await readState(backups, parsed.manifest) : parsed;
    if (!parsed.ok || !read.ok) return "";
    const [version] = wholeVersions(read.state.versions, parsed.manifest.missing);
    return version ? compareLocales("The backup", version.locales, localeSettings).message : "";
  }

  async #accept(wanted: Wanted): Promise<JobResult> {
    const { kind, request } = wanted;
    const { state, store } = this.#platform;
    const isOwnersOnly = kind !== "verify";
    if (isOwnersOnly) await store.checkOwner().catch(() => undefined); // what it finds is recorded
    const result = state.transaction((): JobResult => {
      const earlier = this.#jobs.findRepeated(request.idempotencyKey, isBackup);
      if (earlier !== undefined) return { ok: true, changed: false, job: earlier.job };
      const detail = isOwnersOnly ? state.values.get("foreign") : null;
      if (detail !== null) return { ok: false, reason: "foreign_stores", detail };
      const open = this.#jobs.open().filter(isBackup);
      if (open.length >= MAX_OPEN_JOBS) return { ok: false, reason: "queue_full" };
      const chain = newChain(this.#platform, wanted);
      for (const record of chain) state.save(record);
      const made = chain.find(({ job }) => job.kind === kind);
      if (made === undefined) throw new Error(`the chain has no ${kind}`);
      return { ok: true, changed: true, job: made.job };
    });
    if (!result.ok) this.#platform.log("warn", "backup_refused", { kind, reason: result.reason });
    else {
      const { job, changed } = result;
      this.#platform.log("info", "backup_asked", { job_id: job.id, kind: job.kind, changed });
    }
    return result;
  }
}

/** The jobs of each kind of request, in order. Every new backup is verified. */
const CHAINS: { readonly [K in JobKind]: readonly JobKind[] } = {
  run: ["run", "verify"],
  verify: ["verify"],
  restore: ["run", "restore", "verify"],
};

interface Wanted {
  readonly kind: JobKind;
  /** The backup to verify or restore; null for a new one. */
  readonly backupId: string | null;
  readonly request: BackupRequest;
  /** A warning before it starts; may be empty. */
  readonly warning?: string;
}

/** Makes the queued jobs of a request. A backup has the id of the job that makes it. */
function newChain(
  { newId, now }: Pick<CoordinatorPlatform, "newId" | "now">,
  { kind, backupId, request, warning = "" }: Wanted,
): BackupRecord[] {
  const kinds = CHAINS[kind];
  const chain = kinds.map(() => newId());
  const queued_at = timeText(now());
  const { idempotencyKey, ...requested } = request;
  const others: typeof requested =
    kind === "restore"
      ? { ...requested, trigger: "restore", note: `before the restore of ${backupId}`, pin: false }
      : { ...requested, pin: false };
  return chain.map((id, index) => {
    const kindOfJob = kinds[index] ?? kind;
    const isRequested = kindOfJob === kind;
    const job: BackupJob = {
      id,
      kind: kindOfJob,
      backup_id: (isRequested ? backupId : null) ?? chain[0] ?? id,
      chain,
      ...(isRequested ? requested : others),
      state: "queued",
      stage: null,
      progress: { done: 0, total: 0 },
      queued_at,
      started_at: null,
      heartbeat_at: null,
      finished_at: null,
      duration_ms: null,
      verdict: null,
      generation: null,
      paused: null,
      ...(isRequested && warning !== "" && { warning }),
      kept_for: [],
      error: null,
    };
    return newRecord({
      work: BACKUP,
      job,
      key: isRequested ? idempotencyKey : null,
      checkpoint: FIRST_BACKUP_CHECKPOINT,
      leavesPause: kindOfJob === "restore",
    });
  });
}

function byCron(tick: string): BackupRequest {
  return { trigger: "cron", note: null, pin: false, requested_by: "cron", idempotencyKey: tick };
}
