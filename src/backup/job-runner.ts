import { backoffMs, MAX_BACKOFF_MS } from "../ingest/queue.ts";
import { describeError } from "../log.ts";
import { type Fault, fault } from "./fault.ts";
import {
  type Checkpoint,
  FIRST_CHECKPOINT,
  isBeyondReturn,
  isCheck,
  isOpenJob,
  type Job,
  type PlannedPhase,
  PLANS,
  type StepResult,
} from "./job.ts";
import type { Item } from "./job-items.ts";
import type { JobRecord, JobState } from "./job-state.ts";
import type { StepDependencies } from "./step-dependencies.ts";
import { STEPS } from "./steps.ts";

/** Attempts at one step before its job fails. */
const MAX_STEP_ATTEMPTS = 6;
/** Where retention comes in the making of a backup. */
const RETENTION_AT = PLANS.run.findIndex(({ phase }) => phase === "retention");
const NO_PROGRESS = { done: 0, total: 0 } as const;

export interface RunnerDependencies extends StepDependencies {
  readonly state: JobState;
}

/**
 * Does the jobs, one at a time, one bounded step after the other: claims a step in a transaction,
 * does it, and commits only if nobody has claimed it since. A crash between two of these repeats the
 * step and loses nothing. A restore that has replaced what is there is never given up: its steps are
 * repeated until they succeed.
 */
export class JobRunner {
  readonly #deps: RunnerDependencies;
  readonly #state: JobState;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Takes the step that is next, if one is due. */
  async takeNext(): Promise<void> {
    const claimed = this.#claim();
    if (claimed !== undefined) await this.#step(claimed);
  }

  /** When the next step is due (milliseconds since 1970); null if there is none. */
  dueAt(): number | null {
    const now = this.#deps.now();
    const [record] = this.#state.open();
    return record === undefined ? null : Math.min(record.notBefore ?? now, now + MAX_BACKOFF_MS);
  }

  /** Takes the next step of the job under way, or of the oldest that waits. */
  #claim(): JobRecord | undefined {
    return this.#state.transaction(() => {
      const [record] = this.#state.open();
      if (record === undefined || (this.dueAt() ?? 0) > this.#deps.now()) return undefined;
      const { job } = record;
      const claimed: JobRecord = {
        ...record,
        job: {
          ...job,
          state: "running",
          started_at: job.started_at ?? this.#at(),
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
    const items = this.#state.items.of(job.id);
    const { phase, of } = plannedPhase(claimed);
    const subject = of === "way_back" ? (job.undo_backup_id ?? "") : job.backup_id;
    const mayGiveUp = !isBeyondReturn(phase);
    try {
      if (claimed.attempts > MAX_STEP_ATTEMPTS && mayGiveUp)
        throw new Error(`the step was begun ${MAX_STEP_ATTEMPTS} times and never ended`);
      const context = { job, checkpoint, subject, items };
      await this.#commit(claimed, await STEPS[phase](this.#deps, context));
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
        const { checkpoint, total, items } = result;
        const progress = { done: checkpoint.done, total };
        const change = (record: JobRecord) => ({
          ...record,
          attempts: 0,
          checkpoint,
          job: { ...record.job, progress },
        });
        return this.#underFence(claimed, change, items);
      }
      case "next": {
        const { checkpoint, apply, items } = result;
        const at = checkpoint.at + 1;
        const isLast = at === PLANS[claimed.job.kind].length;
        const { done } = checkpoint;
        const change = (record: JobRecord) => ({
          ...record,
          attempts: 0,
          checkpoint: isLast ? FIRST_CHECKPOINT : beginPhase(checkpoint, at),
          job: {
            ...record.job,
            ...apply(),
            progress: isLast ? { done, total: done } : NO_PROGRESS,
            ...(isLast && this.#ending(record.job, record.job.error === null)),
          },
        });
        return this.#underFence(claimed, change, items);
      }
      case "fail":
        return this.#fail(claimed, result.fault);
      default:
        return result satisfies never;
    }
  }

  /**
   * Ends a job as failed, having put away what it has left behind. A backup that did not prove good
   * goes on with retention first.
   */
  async #fail(claimed: JobRecord, { code, message }: Fault): Promise<void> {
    const { phase, of } = plannedPhase(claimed);
    const error = {
      code,
      message: of === "way_back" ? `The backup of the present: ${message}` : message,
      phase,
    };
    const isVerdict = isCheck(phase) && of === "own" && code !== "store_fault";
    const patch: Partial<Job> = isVerdict ? { error, verdict: "failed" } : { error };
    if (claimed.job.kind === "run" && isCheck(phase))
      return this.#underFence(claimed, (record) => ({
        ...record,
        attempts: 0,
        checkpoint: beginPhase(record.checkpoint, RETENTION_AT),
        job: { ...record.job, ...patch, progress: NO_PROGRESS },
      }));
    const cleaned = await this.#cleanUp(claimed);
    this.#underFence(claimed, (record) => ({
      ...record,
      checkpoint: FIRST_CHECKPOINT,
      job: {
        ...record.job,
        ...this.#ending(record.job, false),
        ...patch,
        ...cleaned,
        error: record.job.error ?? error,
      },
    }));
  }

  /**
   * Deletes a backup in the making, unless its manifest was written and only the word of it lost;
   * what cannot be deleted now is left to retention. A restore then has no way back.
   */
  async #cleanUp({ job }: JobRecord): Promise<Partial<Job>> {
    const { backups } = this.#deps;
    const unfinished = job.kind === "run" ? job.backup_id : job.undo_backup_id;
    if (job.kind === "verify" || unfinished === null) return {};
    try {
      if ((await backups.readManifest(unfinished)) !== null) return {};
      await backups.deleteBackup(unfinished);
    } catch (cause) {
      this.#log("backup_clean_up_failed", job, describeError(cause));
    }
    return job.kind === "restore" ? { undo_backup_id: null } : {};
  }

  #ending(job: Job, hasSucceeded: boolean): Partial<Job> {
    const finished_at = this.#at();
    const duration_ms = Date.parse(finished_at) - Date.parse(job.started_at ?? finished_at);
    return { state: hasSucceeded ? "succeeded" : "failed", finished_at, duration_ms };
  }

  /** Saves what becomes of a claimed job, if its fence is still the one that was given out. */
  #underFence(
    claimed: JobRecord,
    change: (record: JobRecord) => JobRecord,
    items: readonly Item[] = [],
  ): void {
    const changed = this.#state.transaction(() => {
      const record = this.#state.find(claimed.job.id);
      if (record?.fence !== claimed.fence || record.job.state !== "running") return undefined;
      const next = change(record);
      this.#state.items.add(record.job.id, items);
      this.#state.save(next);
      return next;
    });
    if (changed === undefined) return;
    const { state, error, duration_ms } = changed.job;
    if (!isOpenJob(changed.job))
      this.#log("backup_job_ended", changed.job, { state, error, duration_ms: duration_ms });
    else if (changed.checkpoint.at !== claimed.checkpoint.at)
      this.#log("backup_phase_ended", changed.job, { phase: claimed.job.phase });
  }

  #at(): string {
    return new Date(this.#deps.now()).toISOString();
  }

  #log(event: string, job: Job, fields: { readonly [name: string]: unknown }): void {
    this.#deps.log(event, { ...jobFields(job), ...fields });
  }
}

/** What a line of the log says of a job. */
export function jobFields({ id, kind, backup_id }: Job) {
  return { job_id: id, kind, backup_id } as const;
}

function plannedPhase({ job, checkpoint }: JobRecord): PlannedPhase {
  const planned = PLANS[job.kind][checkpoint.at];
  if (planned === undefined) throw new Error(`a ${job.kind} has no phase ${checkpoint.at}`);
  return planned;
}

function beginPhase(checkpoint: Checkpoint, at: number): Checkpoint {
  return { ...checkpoint, at, done: 0, after: "" };
}
