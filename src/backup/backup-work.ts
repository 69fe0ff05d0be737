import { timeText } from "../storage/time-text.ts";
import { adoptVersions } from "../coordinator/published-versions.ts";
import { type Change, StepNeverEnded, type Verdict, type Work } from "../coordinator/engine.ts";
import { endRecord } from "../coordinator/job-record.ts";
import { describeError } from "../log.ts";
import { checkCatalog, checkObjects, checkParts, rebuild } from "./check-steps.ts";
import { copyObjects, copyState, copyTables, writeManifest } from "./copy-steps.ts";
import { type Fault, fault } from "./fault.ts";
import {
  type BackupJob,
  type BackupRecord,
  type BackupStage,
  type Checkpoint,
  countsObjects,
  isCheck,
  PLANS,
  type PlannedStage,
  type StepContext,
  type StepResult,
} from "./job.ts";
import {
  compareSchema,
  replaceVersions,
  restoreObjects,
  restoreTables,
  settle,
} from "./restore-steps.ts";
import { retain } from "./retain-step.ts";
import type { StepDependencies } from "./step-dependencies.ts";

type Step = (deps: StepDependencies, context: StepContext) => Promise<StepResult>;

/** Takes a step of each stage. Idempotent. Throws if a store fails. */
const STEPS: { readonly [S in BackupStage]: Step } = {
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
  restore_tables: restoreTables,
  replace_versions: replaceVersions,
  settle,
};

/** Index of the stage `retention` in the plan of a backup. */
const RETENTION_AT = PLANS.run.findIndex(({ stage }) => stage === "retention");
const NO_PROGRESS = { done: 0, total: 0 } as const;

/**
 * Makes, verifies and restores backups. After a restore has replaced the versions, the engine
 * repeats its steps until they succeed.
 */
export class BackupWork implements Work<BackupRecord> {
  readonly #deps: StepDependencies;

  constructor(deps: StepDependencies) {
    this.#deps = deps;
  }

  stageOf(record: BackupRecord): string {
    return plannedStage(record).stage;
  }

  async step(record: BackupRecord): Promise<Change<BackupRecord>> {
    const { job, checkpoint } = record;
    const { stage, of } = plannedStage(record);
    const subject = of === "undo" ? (job.undo_backup_id ?? "") : job.backup_id;
    const { coordinator, catalog } = this.#deps;
    await adoptVersions(coordinator, catalog);
    const items = this.#deps.items.of(job.id);
    const result = await STEPS[stage](this.#deps, { job, checkpoint, subject, items });
    return result.do === "fail" ? this.#fail(record, result.fault) : this.#advance(result);
  }

  async faulted(
    record: BackupRecord,
    cause: unknown,
    isLast: boolean,
  ): Promise<Verdict<BackupRecord>> {
    const code = "store_fault";
    if (!isLast && !(cause instanceof StepNeverEnded))
      return { code, repeat: true, change: (current) => current };
    return { code, repeat: false, change: await this.#fail(record, fault(code, String(cause))) };
  }

  describe({ id, kind, backup_id, progress, error }: BackupJob) {
    return { job_id: id, kind, backup_id, progress, ...(error && { error }) };
  }

  #advance(result: Exclude<StepResult, { do: "fail" }>): Change<BackupRecord> {
    const { checkpoint, items } = result;
    if (result.do === "again")
      return (record) => {
        this.#deps.items.add(record.job.id, items);
        const progress = { done: checkpoint.done, total: result.total };
        return { ...record, checkpoint, job: { ...record.job, progress } };
      };
    return (record) => {
      this.#deps.items.add(record.job.id, items);
      const { stage } = plannedStage(record);
      const objects = countsObjects(stage) ? checkpoint.done : checkpoint.objects;
      const job = { ...record.job, ...result.apply() };
      const plan = PLANS[job.kind];
      const at = checkpoint.at + 1;
      const progress = { done: objects, total: objects };
      if (at === plan.length) return this.#end(record, { ...job, progress }, job.error === null);
      const next = { ...record, checkpoint: beginStage({ ...checkpoint, objects }, at) };
      const isCommitted = plan[at]?.stage === "settle";
      return { ...next, job: { ...job, progress: NO_PROGRESS }, isCommitted };
    };
  }

  /**
   * Ends a job as failed and deletes its unfinished backup. If the job has made a backup and cannot
   * verify it, retention runs first.
   */
  async #fail(claimed: BackupRecord, { code, message }: Fault): Promise<Change<BackupRecord>> {
    const { stage, of } = plannedStage(claimed);
    const text = of === "undo" ? `The undo backup: ${message}` : message;
    const error = { code, message: text, stage };
    const isVerdict = isCheck(stage) && of === "own" && code !== "store_fault";
    const patch: Partial<BackupJob> = isVerdict ? { error, verdict: "failed" } : { error };
    if (claimed.job.kind === "run" && isCheck(stage))
      return (record) => ({
        ...record,
        checkpoint: beginStage(record.checkpoint, RETENTION_AT),
        job: { ...record.job, ...patch, progress: NO_PROGRESS },
      });
    const cleaned = await this.#cleanUp(claimed);
    return (record) => {
      const job = { ...record.job, ...patch, ...cleaned, error: record.job.error ?? error };
      return this.#end(record, job, false);
    };
  }

  /**
   * Deletes an unfinished backup, unless its manifest exists and only the reply was lost. Retention
   * deletes what remains after a fault. A restore loses its undo backup.
   */
  async #cleanUp({ job }: BackupRecord): Promise<Partial<BackupJob>> {
    const { backups, log } = this.#deps;
    const unfinished = job.kind === "run" ? job.backup_id : job.undo_backup_id;
    if (job.kind === "verify" || unfinished === null) return {};
    try {
      if ((await backups.readManifest(unfinished)) !== null) return {};
      await backups.deleteBackup(unfinished);
      return job.kind === "restore" ? { undo_backup_id: null } : {};
    } catch (cause) {
      log("warn", "backup_clean_up_failed", { ...this.describe(job), ...describeError(cause) });
      return {};
    }
  }

  #end(record: BackupRecord, job: BackupJob, hasSucceeded: boolean): BackupRecord {
    this.#deps.items.forget(job.id);
    const at = timeText(this.#deps.now());
    return endRecord({ ...record, job }, { state: hasSucceeded ? "succeeded" : "failed", at });
  }
}

function plannedStage({ job, checkpoint }: BackupRecord): PlannedStage {
  const planned = PLANS[job.kind][checkpoint.at];
  if (planned === undefined) throw new Error(`a ${job.kind} has no stage ${checkpoint.at}`);
  return planned;
}

function beginStage(checkpoint: Checkpoint, at: number): Checkpoint {
  return { ...checkpoint, at, done: 0, after: "" };
}
