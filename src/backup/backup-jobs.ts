import type { JobStore } from "../coordinator/job-store.ts";
import { newBackupRecord, type RunRequest } from "./backup-record.ts";
import { BACKUP, type BackupJob, isBackup, type JobKind } from "./job.ts";
import { findNewest, listIds, readBackup } from "./read-backups.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Most open jobs. */
const MAX_OPEN_JOBS = 10;

/**
 * A new job; or, not `changed`, an open one with the same result, or the restore that has succeeded
 * and since which nothing has been published.
 */
export interface Accepted {
  readonly ok: true;
  readonly changed: boolean;
  readonly job: BackupJob;
}

/** Who asks for a job, and why. */
export type JobRequest = Pick<RunRequest, "requested_by" | "note">;

export type JobResult =
  Accepted | { readonly ok: false; readonly reason: "not_found" | "queue_full" };

export type RemoveResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "in_use" | "pinned" | "newest" | "newest_verified";
    };

/** Queues backup jobs, which the engine runs, and deletes backups. */
export class BackupJobs {
  readonly #deps: StepDependencies;
  readonly #jobs: JobStore;

  constructor(deps: StepDependencies) {
    this.#deps = deps;
    this.#jobs = deps.coordinator.jobs;
  }

  /** Queues a backup, or returns a waiting one with the requested note and pin. */
  run(request: RunRequest): JobResult {
    return this.#accept("run", null, null, request);
  }

  /** Queues the backup of a cron tick, once for each key. */
  async runOnce(key: string): Promise<void> {
    if (this.#jobs.findByKey(key) === undefined)
      this.#accept("run", null, key, { ...BY_CRON, trigger: "cron" });
  }

  /** Queues the verification of the newest backup, if there is one, once for each key. */
  async verifyNewestOnce(key: string): Promise<void> {
    if (this.#jobs.findByKey(key) !== undefined) return;
    const { backups } = this.#deps;
    const { whole } = await findNewest(backups, await listIds(backups));
    if (whole !== null) this.#accept("verify", whole.id, key, { ...BY_CRON, trigger: "cron" });
  }

  /** Queues the verification of a backup. */
  async verify(id: string, request: JobRequest): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    return this.#accept("verify", id, null, { ...BY_HAND, ...request });
  }

  /** Queues a restore, unless it has succeeded and nothing has been published since. */
  async restore(id: string, request: JobRequest): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    const current = this.#deps.coordinator.currentVersion()?.generation ?? null;
    const restores = this.#jobs.newest(BACKUP).filter(isBackup);
    const newest = restores.find(({ job }) => job.kind === "restore")?.job;
    const isCurrent = current !== null && newest?.generation === current;
    if (isCurrent && newest.backup_id === id && newest.state === "succeeded")
      return { ok: true, changed: false, job: newest };
    return this.#accept("restore", id, null, { ...BY_HAND, ...request });
  }

  /** Deletes a backup, unless it is in use, pinned, the newest or the newest good one. */
  async remove(id: string): Promise<RemoveResult> {
    const { backups } = this.#deps;
    const ids = await listIds(backups);
    if (!ids.includes(id)) return { ok: false, reason: "not_found" };
    const { whole, good } = await findNewest(backups, ids);
    if (good?.id === id) return { ok: false, reason: "newest_verified" };
    if (whole?.id === id) return { ok: false, reason: "newest" };
    if ((await readBackup(backups, id)).pinned) return { ok: false, reason: "pinned" };
    const open = this.#jobs.open().filter(isBackup);
    const isUsed = open.some(({ job }) => job.backup_id === id || job.undo_backup_id === id);
    if (isUsed) return { ok: false, reason: "in_use" };
    await backups.deleteBackup(id);
    return { ok: true };
  }

  async #exists(id: string): Promise<boolean> {
    return (await this.#deps.backups.readManifest(id)) !== null;
  }

  #accept(
    kind: JobKind,
    backupId: string | null,
    key: string | null,
    request: RunRequest,
  ): JobResult {
    const { coordinator } = this.#deps;
    const result = coordinator.transaction((): JobResult => {
      const open = this.#jobs.open().filter(isBackup);
      // A tick may have fired again while the newest backup was looked for.
      const known = key === null ? undefined : open.find((record) => record.key === key);
      if (known !== undefined) return { ok: true, changed: false, job: known.job };
      const lastRestore = open.findLastIndex(({ job }) => job.kind === "restore");
      const current = coordinator.currentVersion()?.generation;
      const same = open
        .slice(Math.max(0, lastRestore))
        .find(
          ({ job }) =>
            job.kind === kind &&
            (backupId === null || job.backup_id === backupId) &&
            meets(job, request) &&
            !isPassed(job, current),
        );
      // A request with a key needs a job of its own, which the key finds.
      if (same !== undefined && key === null) return { ok: true, changed: false, job: same.job };
      if (open.length >= MAX_OPEN_JOBS) return { ok: false, reason: "queue_full" };
      const record = newBackupRecord(this.#deps, { kind, backupId, key, ...request });
      coordinator.save(record);
      return { ok: true, changed: true, job: record.job };
    });
    if (!result.ok) this.#deps.log("warn", "backup_refused", { kind, reason: result.reason });
    else {
      const { job, changed } = result;
      this.#deps.log("info", "backup_asked", { job_id: job.id, kind: job.kind, changed });
    }
    return result;
  }
}

const BY_CRON = { note: null, pin: false, requested_by: "cron" } as const;
const BY_HAND = { trigger: "manual", pin: false } as const;

/** Whether a job misses a change of now: it copies or has replaced an earlier state. */
function isPassed({ kind, state, generation }: BackupJob, current: number | undefined): boolean {
  if (kind === "run") return state !== "queued";
  return generation !== null && generation !== current;
}

/** Whether a job comes to what a request asks for: a backup with its pin and note. */
function meets(job: BackupJob, { pin, note }: RunRequest): boolean {
  return job.kind !== "run" || ((job.pin || !pin) && (note === null || note === job.note));
}
