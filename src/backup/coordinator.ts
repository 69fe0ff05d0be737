import type { BackupFirst } from "../ingest/coordinator-dependencies.ts";
import type { BackupTrigger } from "./format.ts";
import { FIRST_CHECKPOINT, isOpenJob, type Job, type JobKind } from "./job.ts";
import { jobFields, JobRunner, type RunnerDependencies } from "./job-runner.ts";
import type { JobRecord, JobState } from "./job-state.ts";
import { findNewest, listIds } from "./read-backups.ts";
import { removeBackup, type RemoveResult } from "./remove-backup.ts";
import { Turns } from "./turns.ts";
import { acceptManifest, type ManifestUpload, type UploadResult } from "./upload.ts";
import { isGood } from "./verdict.ts";

/** Jobs that may be open at a time. */
const MAX_OPEN_JOBS = 10;

export interface BackupDependencies extends Omit<RunnerDependencies, "turns"> {
  readonly newId: () => string;
}

export interface RunRequest {
  readonly trigger: BackupTrigger;
  readonly note: string | null;
  readonly pin: boolean;
  readonly requestedBy: string;
}

/** A job was begun, or is the one that does the same already. */
export interface Accepted {
  readonly ok: true;
  readonly disposition: "started" | "queued" | "attached";
  readonly job: Job;
}

export type JobResult =
  | Accepted
  | { readonly ok: false; readonly reason: "busy"; readonly job: Job }
  | { readonly ok: false; readonly reason: "not_found" | "queue_full" }
  | { readonly ok: false; readonly reason: "run_active"; readonly runId: string };

/** What is done about backups: jobs are begun here, and the runner does them. */
export class BackupJobs {
  readonly #deps: BackupDependencies;
  readonly #state: JobState;
  readonly #turns = new Turns();
  readonly #runner: JobRunner;

  constructor(deps: BackupDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#runner = new JobRunner({ ...deps, turns: this.#turns });
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
    if (this.#state.findByKey(key) === undefined) await this.#accept("run", null, key, request);
  }

  /** Verifies the newest backup, once for each key. Does nothing if there is none. */
  async verifyNewestOnce(key: string): Promise<void> {
    if (this.#state.findByKey(key) !== undefined) return;
    const { backups } = this.#deps;
    const { whole } = await findNewest(backups, await listIds(backups));
    if (whole !== null)
      await this.#accept("verify", whole.id, key, { ...BY_CRON, trigger: "cron" });
  }

  /**
   * Makes the backup that a forced ingest run waits for. The first call begins it; later ones say
   * how far it is.
   */
  async backUpFirst(runId: string): Promise<BackupFirst> {
    const key = `forced:${runId}`;
    const known = this.#state.findByKey(key);
    if (known === undefined) {
      await this.#accept("run", null, key, {
        trigger: "forced_publish",
        note: `before the forced ingest run ${runId}`,
        pin: false,
        requestedBy: "ingest",
      });
      return { state: "under_way" };
    }
    const { job } = known;
    // It is safe once it has proved good, whatever becomes of older backups.
    if (isGood(job.verdict ?? "unverified")) return { state: "done" };
    if (isOpenJob(job)) return { state: "under_way" };
    const why = job.error === null ? "" : ` (${job.error.code}: ${job.error.message})`;
    const message = `nothing is forced without a backup, and backup ${job.backupId} failed${why}; mend that, then queue the run again`;
    return { state: "failed", message };
  }

  /** Verifies a backup. */
  async verify(id: string, requestedBy: string): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    return this.#accept("verify", id, null, { ...BY_CRON, trigger: "manual", requestedBy });
  }

  /** Restores a backup. Refused while another job or an ingest run is under way. */
  async restore(id: string, requestedBy: string): Promise<JobResult> {
    if (!(await this.#exists(id))) return { ok: false, reason: "not_found" };
    const [busy] = this.#state.open();
    const isOther = busy?.job.kind !== "restore" || busy.job.backupId !== id;
    if (busy !== undefined && isOther) return { ok: false, reason: "busy", job: busy.job };
    const { running } = await this.#deps.ingest.status();
    if (running !== null) return { ok: false, reason: "run_active", runId: running.id };
    return this.#accept("restore", id, null, { ...BY_CRON, trigger: "manual", requestedBy });
  }

  /** Deletes a backup, unless it is one that is never deleted. */
  async remove(id: string): Promise<RemoveResult> {
    return this.#turns.take(() => removeBackup(this.#deps, id));
  }

  /** Takes the manifest of an uploaded backup, while nothing is deleted. */
  async acceptManifest(upload: ManifestUpload): Promise<UploadResult> {
    return this.#turns.take(() => acceptManifest(this.#deps.backups, upload));
  }

  findJob(id: string): Job | null {
    return this.#state.find(id)?.job ?? null;
  }

  /** Jobs, the newest first. */
  jobs(limit: number): Job[] {
    return this.#state.newest(limit).map(({ job }) => job);
  }

  /** Does a step of the job under way. */
  alarm(): Promise<void> {
    return this.#runner.alarm();
  }

  /** To be called once for each new instance, with when its alarm is set for. */
  recover(alarmAt: number | null): Promise<void> {
    return this.#runner.recover(alarmAt);
  }

  async #exists(id: string): Promise<boolean> {
    return (await this.#deps.backups.readManifest(id)) !== null;
  }

  async #accept(
    kind: JobKind,
    backupId: string | null,
    key: string | null,
    request: RunRequest,
  ): Promise<JobResult> {
    const result = this.#state.transaction((): JobResult => {
      const open = this.#state.open();
      const same = open.find(
        ({ job }) =>
          job.kind === kind &&
          (backupId === null || job.backupId === backupId) &&
          meets(job, request),
      );
      // What is asked for with a key is to be found by it: it waits for a backup of its own.
      if (same !== undefined && key === null)
        return { ok: true, disposition: "attached", job: same.job };
      const [busy] = open;
      if (kind === "restore" && busy !== undefined)
        return { ok: false, reason: "busy", job: busy.job };
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
    await this.#runner.rearm();
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
      backupId: backupId ?? id,
      ...request,
      state: "queued",
      phase: null,
      progress: { done: 0, total: 0 },
      queuedAt: new Date(this.#deps.now()).toISOString(),
      startedAt: null,
      finishedAt: null,
      durationMs: null,
      verdict: null,
      wayBackId: kind === "restore" ? this.#deps.newId() : null,
      generation: null,
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

const BY_CRON = { note: null, pin: false, requestedBy: "cron" } as const;

/** Whether a job has all that a request asks for: its pin and its note. */
function meets(job: Job, { pin, note }: RunRequest): boolean {
  return (job.pin || !pin) && (note === null || note === job.note);
}
