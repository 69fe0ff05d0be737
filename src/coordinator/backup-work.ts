import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { ForeignStores } from "../storage/ownership.ts";
import { timeText } from "../platform/time.ts";
import type { Instant } from "../platform/units.ts";
import { adoptVersions, recordVersion, replicatePublished, VersionLost } from "./publishing.ts";
import { type StepCommit, StepNeverEnded, type FailedStep, type Work } from "./engine.ts";
import { endRecord } from "./jobs.ts";
import { checkCatalog, checkObjects, checkParts } from "../backup/check-steps.ts";
import { copyObjects, copyState, copyTables, writeManifest } from "../backup/copy-steps.ts";
import { type Fault, fault } from "../schemas/backup-fault.ts";
import { type BackupRecord, isBackup } from "./backup-jobs.ts";
import { BACKUP, type BackupJob, type BackupStage, isCheck, PLANS } from "../schemas/backup-job.ts";
import type { StepContext, StepDependencies, BackupStepResult } from "../backup/step.ts";
import {
  compareSchema,
  replaceVersions,
  restoreObjects,
  restoreTables,
  replicateRestored,
} from "../backup/restore-steps.ts";
import { retain } from "../backup/retention.ts";

type Step = (deps: StepDependencies, context: StepContext) => Promise<BackupStepResult>;

/** The step of each stage. Idempotent. Throws if a store fails. */
const STEPS: { readonly [S in BackupStage]: Step } = {
  copy_state: copyState,
  copy_tables: copyTables,
  copy_objects: copyObjects,
  write_manifest: writeManifest,
  check_parts: checkParts,
  check_objects: checkObjects,
  check_catalog: checkCatalog,
  retention: retain,
  compare_schema: compareSchema,
  restore_objects: restoreObjects,
  restore_tables: restoreTables,
  replace_versions: replaceVersions,
  settle: replicateRestored,
};

const NO_PROGRESS = { done: 0, total: 0 } as const;

/** Makes, verifies and restores backups. Steps after `replace_versions` are repeated until they succeed. */
export class BackupWork implements Work<BackupRecord> {
  readonly #platform: CoordinatorPlatform;

  constructor(platform: CoordinatorPlatform) {
    this.#platform = platform;
  }

  stageOf({ job, checkpoint }: BackupRecord): BackupStage {
    const stage = PLANS[job.kind][checkpoint.at];
    if (stage === undefined) throw new Error(`a ${job.kind} has no stage ${checkpoint.at}`);
    return stage;
  }

  async step(record: BackupRecord): Promise<StepCommit<BackupRecord>> {
    const { state, store } = this.#platform;
    if (record.job.kind !== "verify") {
      await store.checkOwner();
      await adoptVersions(state, store);
    }
    const openBackups = () =>
      state.jobs.open().flatMap((open) => (isBackup(open) ? open.job.backup_id : []));
    const replicate: StepDependencies["replicate"] = (promised) =>
      replicatePublished(this.#platform, promised);
    const recordHere: StepDependencies["recordVersion"] = (content, recorded) =>
      recordVersion(this.#platform.state, content, recorded);
    const deps = { ...this.#platform, openBackups, recordVersion: recordHere, replicate };
    const result = await STEPS[this.stageOf(record)](deps, record);
    return result.do === "fail" ? this.#fail(record, result.fault) : this.#advance(result);
  }

  async faulted(
    record: BackupRecord,
    cause: unknown,
    isLast: boolean,
  ): Promise<FailedStep<BackupRecord>> {
    if (cause instanceof ForeignStores) {
      const code = "foreign_stores";
      const fail = this.#fail(record, fault(code, cause.message));
      return {
        code,
        repeat: false,
        change: (current) => {
          if (current.isCommitted) this.#platform.state.withdraw(current.job.generation);
          return fail(current);
        },
      };
    }
    if (cause instanceof VersionLost) {
      const code = "version_lost";
      return { code, repeat: false, change: this.#fail(record, fault(code, cause.message)) };
    }
    const code = "store_fault";
    if (!isLast && !(cause instanceof StepNeverEnded))
      return { code, repeat: true, change: (current) => current };
    return { code, repeat: false, change: this.#fail(record, fault(code, String(cause))) };
  }

  describe({ id, kind, backup_id, progress, error }: BackupJob) {
    return { job_id: id, kind, backup_id, progress, ...(error && { error }) };
  }

  #advance(result: Exclude<BackupStepResult, { do: "fail" }>): StepCommit<BackupRecord> {
    const { checkpoint } = result;
    if (result.do === "again")
      return (record) => {
        const progress = { done: checkpoint.done, total: result.total };
        return { ...record, checkpoint, job: { ...record.job, progress } };
      };
    return (record) => {
      const job = { ...record.job, ...result.apply(), progress: NO_PROGRESS };
      const plan = PLANS[job.kind];
      const at = checkpoint.at + 1;
      if (at === plan.length) return this.#end(record, job);
      const isCommitted = plan[at] === "settle";
      return { ...record, job, checkpoint: { ...checkpoint, at, done: 0 }, isCommitted };
    };
  }

  /** Ends a job as failed. Retention deletes the files of an unfinished backup. */
  #fail(claimed: BackupRecord, { code, message }: Fault): StepCommit<BackupRecord> {
    const stage = this.stageOf(claimed);
    const error = { code, message, stage };
    const isVerdict = isCheck(stage) && code !== "store_fault";
    const patch: Partial<BackupJob> = isVerdict ? { error, verdict: "failed" } : { error };
    return (record) => this.#end(record, { ...record.job, ...patch });
  }

  /** Ends a job. Then starts the next job of its chain, or after a failure cancels all that follow. */
  #end(record: BackupRecord, job: BackupJob): BackupRecord {
    const { state, now } = this.#platform;
    const at = timeText(now());
    const following = job.chain
      .slice(job.chain.indexOf(job.id) + 1)
      .flatMap((id) => state.jobs.find(BACKUP, id) ?? [])
      .filter(isBackup);
    const [next] = following;
    if (job.error !== null) for (const later of following) state.save(cancelled(later, job, at));
    else if (next !== undefined) {
      const started = { state: "running", stage: this.stageOf(next), started_at: at } as const;
      state.save({ ...next, job: { ...next.job, ...started } });
    }
    return endRecord(
      { ...record, job },
      { state: job.error === null ? "succeeded" : "failed", at },
    );
  }
}

function cancelled(
  record: BackupRecord,
  { id, kind, error: cause }: BackupJob,
  at: Instant,
): BackupRecord {
  const message = `The ${NAMES[kind]} before it, job ${id}, failed: ${cause?.message}`;
  const error = { code: "predecessor_failed", message, stage: null } as const;
  return endRecord(record, { state: "cancelled", at, patch: { error } });
}

const NAMES = { run: "backup", verify: "verification", restore: "restore" } as const;
