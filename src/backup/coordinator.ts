import type { BackupFirst } from "../ingest/coordinator-dependencies.ts";
import { backoffMs } from "../ingest/queue.ts";
import { describeError } from "../log.ts";
import { checkCatalog, checkObjects, checkParts, rebuild } from "./check-steps.ts";
import { copyObjects, copyState, copyTables, hold, writeManifest } from "./copy-steps.ts";
import { type Fault, fault } from "./fault.ts";
import type { BackupTrigger } from "./format.ts";
import {
  FIRST_CHECKPOINT,
  isBeyondReturn,
  isCheck,
  isOpenJob,
  type Job,
  type JobKind,
  type Phase,
  type PlannedPhase,
  PLANS,
  type StepContext,
  type StepResult,
} from "./job.ts";
import type { JobRecord, JobState } from "./job-state.ts";
import { findNewest, listIds, readBackup } from "./read-backups.ts";
import {
  compareSchema,
  replaceState,
  replaceTables,
  restoreObjects,
  settle,
  stageState,
  stageTables,
} from "./restore-steps.ts";
import { retain } from "./retain-step.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** If an alarm dies without a word, the next one begins after this time. */
export const LEASE_MS = 120_000;
/** Attempts at one step before its job fails. */
const MAX_STEP_ATTEMPTS = 6;
/** Jobs that may be open at a time. */
const MAX_OPEN_JOBS = 10;

export interface BackupDependencies extends StepDependencies {
  readonly state: JobState;
  /** Replaces the one alarm; null takes it away. */
  readonly setAlarm: (at: number | null) => Promise<void>;
  readonly newId: () => string;
  readonly log: (event: string, fields: { readonly [name: string]: unknown }) => void;
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

export type RemoveResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "in_use" | "pinned" | "newest" | "newest_verified";
    };

const STEPS: {
  readonly [P in Phase]: (deps: StepDependencies, context: StepContext) => Promise<StepResult>;
} = {
  hold,
  copy_state: copyState,
  copy_tables: copyTables,
  copy_objects: copyObjects,
  write_manifest: writeManifest,
  check_parts: checkParts,
  check_objects: checkObjects,
  check_catalog: checkCatalog,
  rebuild,
  retention: retain,
  compare_schema: compareSchema,
  restore_objects: restoreObjects,
  stage_tables: stageTables,
  stage_state: stageState,
  replace_state: replaceState,
  replace_tables: replaceTables,
  settle,
};

/**
 * The one who makes, verifies and restores backups: one job at a time, from its alarm, one bounded
 * step after the other.
 *
 * An alarm arms a watchdog first, claims a step in a transaction, does it, and commits only if
 * nobody has claimed it since. A crash between two of these repeats the step and loses nothing. A
 * restore that has begun to replace what is there is never given up: its steps are repeated until
 * they succeed.
 */
export class BackupJobs {
  readonly #deps: BackupDependencies;
  readonly #state: JobState;

  constructor(deps: BackupDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Begins a backup, unless one is being made or waits: then that is the answer. */
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
    if (isOpenJob(job)) return { state: "under_way" };
    if (job.state === "succeeded") return { state: "done" };
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

  /** Deletes a backup, but never the newest, nor the newest that proved good, nor a pinned one. */
  async remove(id: string): Promise<RemoveResult> {
    const refuse = (reason: Extract<RemoveResult, { ok: false }>["reason"]): RemoveResult => ({
      ok: false,
      reason,
    });
    const { backups } = this.#deps;
    const ids = await listIds(backups);
    if (!ids.includes(id)) return refuse("not_found");
    const { whole, good } = await findNewest(backups, ids);
    if (good?.id === id) return refuse("newest_verified");
    if (whole?.id === id) return refuse("newest");
    if ((await readBackup(backups, id)).pinned) return refuse("pinned");
    const isUsed = this.#state
      .open()
      .some(({ job }) => job.backupId === id || job.wayBackId === id);
    if (isUsed) return refuse("in_use");
    await backups.deleteBackup(id);
    return { ok: true };
  }

  findJob(id: string): Job | null {
    return this.#state.find(id)?.job ?? null;
  }

  /** Jobs, the newest first. */
  jobs(limit: number): Job[] {
    return this.#state.newest(limit).map(({ job }) => job);
  }

  /** Does a step of the job under way, then sets the alarm to when the next is due. */
  async alarm(): Promise<void> {
    await this.#deps.setAlarm(this.#deps.now() + LEASE_MS);
    const claimed = this.#claim();
    if (claimed !== undefined) await this.#step(claimed);
    await this.#rearm();
  }

  /**
   * To be called once for each new instance: what died with the one before is due at once, and need
   * not wait for the watchdog that is set for `alarmAt`.
   */
  async recover(alarmAt: number | null): Promise<void> {
    const dueAt = this.#dueAt();
    if (dueAt !== null && dueAt < (alarmAt ?? Infinity)) await this.#deps.setAlarm(dueAt);
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
        ({ job }) => job.kind === kind && (backupId === null || job.backupId === backupId),
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
    if (result.ok) this.#log("backup_job", result.job, { disposition: result.disposition });
    await this.#rearm();
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
      queuedAt: this.#at(),
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

  #dueAt(): number | null {
    const [record] = this.#state.open();
    return record === undefined ? null : Math.max(this.#deps.now(), record.notBefore ?? 0);
  }

  #rearm(): Promise<void> {
    return this.#deps.setAlarm(this.#dueAt());
  }

  /** Takes the next step of the job under way, or of the oldest that waits. */
  #claim(): JobRecord | undefined {
    return this.#state.transaction(() => {
      const [record] = this.#state.open();
      if (record === undefined || (record.notBefore ?? 0) > this.#deps.now()) return undefined;
      const { job } = record;
      const claimed: JobRecord = {
        ...record,
        job: {
          ...job,
          state: "running",
          startedAt: job.startedAt ?? this.#at(),
          phase: plannedPhase(record).phase,
        },
        fence: record.fence + 1,
        attempts: record.attempts + 1,
        notBefore: null,
      };
      this.#state.save(claimed);
      return claimed;
    });
  }

  async #step(claimed: JobRecord): Promise<void> {
    const { job, checkpoint } = claimed;
    const { phase, of } = plannedPhase(claimed);
    const subject = of === "way_back" ? (job.wayBackId ?? "") : job.backupId;
    const mayGiveUp = !isBeyondReturn(phase);
    try {
      if (claimed.attempts > MAX_STEP_ATTEMPTS && mayGiveUp)
        throw new Error(`the step was begun ${MAX_STEP_ATTEMPTS} times and never ended`);
      await this.#commit(claimed, await STEPS[phase](this.#deps, { job, checkpoint, subject }));
    } catch (cause) {
      this.#log("backup_step_failed", job, { phase, ...describeError(cause) });
      if (claimed.attempts >= MAX_STEP_ATTEMPTS && mayGiveUp)
        return this.#fail(claimed, fault("store_fault", String(cause)));
      const notBefore = this.#deps.now() + backoffMs(claimed.attempts);
      this.#underFence(claimed, (record) => ({ ...record, notBefore }));
    }
  }

  async #commit(claimed: JobRecord, result: StepResult): Promise<void> {
    switch (result.do) {
      case "again": {
        const { checkpoint, total } = result;
        this.#underFence(claimed, (record) => ({
          ...record,
          attempts: 0,
          checkpoint,
          job: { ...record.job, progress: { done: checkpoint.done, total } },
        }));
        return;
      }
      case "next": {
        const at = result.checkpoint.at + 1;
        const isLast = at === PLANS[claimed.job.kind].length;
        this.#underFence(claimed, (record) => ({
          ...record,
          attempts: 0,
          checkpoint: isLast ? FIRST_CHECKPOINT : { ...result.checkpoint, at, done: 0 },
          job: {
            ...record.job,
            ...result.patch,
            progress: { done: 0, total: 0 },
            ...(isLast && this.#ending(record.job, "succeeded")),
          },
        }));
        return;
      }
      case "wait": {
        const notBefore = this.#deps.now() + result.ms;
        this.#underFence(claimed, (record) => ({ ...record, attempts: 0, notBefore }));
        return;
      }
      case "fail":
        return this.#fail(claimed, result.fault);
      default:
        return result satisfies never;
    }
  }

  /** Ends a job as failed, having put away what it has left behind. */
  async #fail(claimed: JobRecord, { code, message }: Fault): Promise<void> {
    const { phase, of } = plannedPhase(claimed);
    await this.#cleanUp(claimed);
    this.#underFence(claimed, (record) => ({
      ...record,
      checkpoint: FIRST_CHECKPOINT,
      job: {
        ...record.job,
        ...this.#ending(record.job, "failed"),
        error: {
          code,
          message: of === "way_back" ? `The backup of the present: ${message}` : message,
          phase,
        },
        ...(isCheck(phase) && of === "own" && code !== "store_fault" && { verdict: "failed" }),
      },
    }));
  }

  /** What cannot be put away now ends by itself: the hold by its time, the rest by retention. */
  async #cleanUp({ job, checkpoint }: JobRecord): Promise<void> {
    const { ingest, database, backups } = this.#deps;
    const unfinished = job.kind === "run" ? job.backupId : job.wayBackId;
    const isUnfinished = checkpoint.draft !== null && unfinished !== null;
    const tasks = [
      ...(job.kind === "verify" ? [] : [() => ingest.forgetTransfer()]),
      ...(job.kind === "verify" ? [] : [() => ingest.release(job.id)]),
      ...(job.kind === "restore" ? [() => database.abandonRestore()] : []),
      ...(isUnfinished ? [() => backups.deleteBackup(unfinished)] : []),
    ];
    for (const task of tasks)
      await task().catch((cause: unknown) =>
        this.#log("backup_clean_up_failed", job, describeError(cause)),
      );
  }

  #ending(job: Job, state: "succeeded" | "failed"): Partial<Job> {
    const finishedAt = this.#at();
    const durationMs = Date.parse(finishedAt) - Date.parse(job.startedAt ?? finishedAt);
    return { state, finishedAt, durationMs };
  }

  /** Saves what becomes of a claimed job, if its fence is still the one that was given out. */
  #underFence(claimed: JobRecord, change: (record: JobRecord) => JobRecord): void {
    const changed = this.#state.transaction(() => {
      const record = this.#state.find(claimed.job.id);
      if (record?.fence !== claimed.fence || record.job.state !== "running") return undefined;
      const next = change(record);
      this.#state.save(next);
      return next;
    });
    if (changed === undefined) return;
    const { state, error, durationMs } = changed.job;
    if (!isOpenJob(changed.job))
      this.#log("backup_job_ended", changed.job, { state, error, duration_ms: durationMs });
    else if (changed.checkpoint.at !== claimed.checkpoint.at)
      this.#log("backup_phase_ended", changed.job, { phase: claimed.job.phase });
  }

  #at(): string {
    return new Date(this.#deps.now()).toISOString();
  }

  #log(event: string, job: Job, fields: { readonly [name: string]: unknown }): void {
    const { id, kind, backupId } = job;
    this.#deps.log(event, { job_id: id, kind, backup_id: backupId, ...fields });
  }
}

const BY_CRON = { note: null, pin: false, requestedBy: "cron" } as const;

function plannedPhase({ job, checkpoint }: JobRecord): PlannedPhase {
  const planned = PLANS[job.kind][checkpoint.at];
  if (planned === undefined) throw new Error(`a ${job.kind} has no phase ${checkpoint.at}`);
  return planned;
}
