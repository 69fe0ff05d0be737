import type { BackupTrigger } from "./format.ts";
import { FIRST_CHECKPOINT, type Job, type JobKind } from "./job.ts";
import { jobFields, JobRunner, type RunnerDependencies } from "./job-runner.ts";
import { ENDED_JOBS_KEPT, type JobRecord, type JobState } from "./job-state.ts";
import { findNewest, listIds } from "./read-backups.ts";
import { removeBackup, type RemoveResult } from "./remove-backup.ts";

/** Jobs that may be open at a time. */
const MAX_OPEN_JOBS = 10;

export interface BackupDependencies extends RunnerDependencies {
  readonly newId: () => string;
}

export interface RunRequest {
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  readonly pin: boolean;
  readonly requested_by: string;
}

/**
 * A job was begun, or is the one that does the same already; `unchanged` is a restore that has been
 * done, and nothing has been published since.
 */
export interface Accepted {
  readonly ok: true;
  readonly disposition: "started" | "queued" | "attached" | "unchanged";
  readonly job: Job;
}

export type JobResult =
  Accepted | { readonly ok: false; readonly reason: "not_found" | "queue_full" };

/** What is done about backups: jobs are begun here, and the runner does them. */
export class BackupJobs {
  readonly #deps: BackupDependencies;
  readonly #state: JobState;
  readonly #runner: JobRunner;

  constructor(deps: BackupDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#runner = new JobRunner(deps);
  }

  /**
   * Begins a backup, unless one is being made or waits that has the same note and is pinned, if that
   * is asked for: then that is the answer.
   */
  async run(request: RunRequest): Promise<JobResult> {
    return this.#accept("run", null, null, request);
  }

  /** Makes the backup of a cron trigger, once however often it fires. */
  async runOnce(key: string, request: RunRequest): Promise<void> {
    if (this.#state.findByKey(key) === undefined) this.#accept("run", null, key, request);
  }

  /** Verifies the newest backup, once for each key. Does nothing if there is none. */
  async verifyNewestOnce(key: string): Promise<void> {
    if (this.#state.findByKey(key) !== undefined) return;
    const { backups } = this.#deps;
    const { whole } = await findNewest(backups, await listIds(backups));
    if (whole !== null) this.#accept("verify", whole.id, key, { ...BY_CRON, trigger: "cron" });
  }

  /** Verifies a backup. */
  async verify(id: string, requested_by: string): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    return this.#accept("verify", id, null, { ...BY_CRON, trigger: "manual", requested_by });
  }

  /** Restores a backup, unless that has been done and nothing has been published since. */
  async restore(id: string, requested_by: string): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    const current = this.#deps.coordinator.currentVersion()?.generation ?? null;
    const done = this.#state
      .newest(ENDED_JOBS_KEPT)
      .find(({ job }) => job.kind === "restore" && job.generation === current);
    if (current !== null && done?.job.backup_id === id && done.job.state === "succeeded")
      return { ok: true, disposition: "unchanged", job: done.job };
    return this.#accept("restore", id, null, { ...BY_CRON, trigger: "manual", requested_by });
  }

  /** Deletes a backup, unless it is one that is never deleted. */
  async remove(id: string): Promise<RemoveResult> {
    return removeBackup(this.#deps, id);
  }

  findJob(id: string): Job | null {
    return this.#state.find(id)?.job ?? null;
  }

  /** Jobs, the newest first. */
  jobs(limit: number): Job[] {
    return this.#state.newest(limit).map(({ job }) => job);
  }

  /** The job that is under way, or else is next; null if there is none. */
  first(): Job | null {
    return this.#state.open()[0]?.job ?? null;
  }

  /** The last job that waits or is under way; null if there is none. */
  last(): Job | null {
    return this.#state.open().at(-1)?.job ?? null;
  }

  /** Takes the step that is next, if one is due. */
  takeNext(): Promise<void> {
    return this.#runner.takeNext();
  }

  /** When the next step is due (milliseconds since 1970); null if there is none. */
  dueAt(): number | null {
    return this.#runner.dueAt();
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
    const result = this.#state.transaction((): JobResult => {
      const open = this.#state.open();
      const same = open.find(
        ({ job }) =>
          job.kind === kind &&
          (backupId === null || job.backup_id === backupId) &&
          meets(job, request),
      );
      // What is asked for with a key is to be found by it: it waits for a backup of its own.
      if (same !== undefined && key === null)
        return { ok: true, disposition: "attached", job: same.job };
      if (open.length >= MAX_OPEN_JOBS) return { ok: false, reason: "queue_full" };
      const record = this.#newRecord(kind, backupId, key, request);
      this.#state.save(record);
      const disposition = open.length === 0 ? "started" : "queued";
      return { ok: true, disposition, job: record.job };
    });
    if (result.ok) {
      const { job, disposition } = result;
      this.#deps.log("backup_job", { ...jobFields(job), disposition });
    }
    return result;
  }

  #newRecord(
    kind: JobKind,
    backupId: string | null,
    key: string | null,
    request: RunRequest,
  ): JobRecord {
    const id = this.#deps.newId();
    const job: Job = {
      id,
      kind,
      backup_id: backupId ?? id,
      ...request,
      state: "queued",
      phase: null,
      progress: { done: 0, total: 0 },
      queued_at: new Date(this.#deps.now()).toISOString(),
      started_at: null,
      finished_at: null,
      duration_ms: null,
      verdict: null,
      undo_backup_id: kind === "restore" ? this.#deps.newId() : null,
      generation: null,
      paused: null,
      error: null,
    };
    return {
      job,
      key,
      checkpoint: FIRST_CHECKPOINT,
      fence: 0,
      attempts: 0,
      notBefore: null,
    };
  }
}

const BY_CRON = { note: null, pin: false, requested_by: "cron" } as const;

/** Whether a job has all that a request asks for: its pin and its note. */
function meets(job: Job, { pin, note }: RunRequest): boolean {
  return (job.pin || !pin) && (note === null || note === job.note);
}
