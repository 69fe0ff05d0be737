import { describeError, type LogLevel } from "../log.ts";
import { adoptVersions } from "./adopt-versions.ts";
import { candidateOf } from "./candidate.ts";
import type { StepResult } from "./checkpoint.ts";
import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";
import type { CoordinatorState } from "./coordinator-state.ts";
import { leaseExpired, type RunFailure, toFailure } from "./faults.ts";
import { backoffMs, MAX_STEP_ATTEMPTS, nextToStep, retryOf } from "./queue.ts";
import { liftEndedPause, newRunOf } from "./run-control.ts";
import { endedRecord, type RunRecord } from "./run-record.ts";
import { isOpen, type Run, type RunState, type Stage } from "./run.ts";

/** If a step dies without a word, the next attempt begins after this time. */
export const LEASE_MS = 120_000;

interface StepDependencies extends CoordinatorDependencies {
  /** Does what is due when a run has ended. Never throws. */
  readonly runEnded: (run: Run) => void;
}

/**
 * Takes runs step by step: claims a step in a transaction, does it, and commits only if nobody has
 * claimed it since. A crash between two of these repeats the step and loses nothing.
 */
export class StepRunner {
  readonly #deps: StepDependencies;
  readonly #state: CoordinatorState;

  constructor(deps: StepDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Takes the step that is next, if one is due. */
  async takeNext(): Promise<void> {
    const claimed = this.#claim();
    if (claimed === undefined) return;
    if (isToBeCancelled(claimed, claimed.checkpoint.stage)) {
      this.#underFence(claimed, (record) => this.#ended(record, "cancelled"));
      return;
    }
    const began = this.#deps.now();
    try {
      await this.#step(claimed, began);
    } catch (cause) {
      this.#takeFault(claimed, { cause, began });
    }
  }

  /** Takes the next step of the run under way, or of the first that waits and is due. */
  #claim(): RunRecord | undefined {
    return this.#state.transaction(() => {
      const now = this.#deps.now();
      liftEndedPause(this.#state, now);
      const record = nextToStep(this.#state.queue(), now);
      if (record === undefined) return undefined;
      const at = this.#at();
      const run: Run = {
        ...record.run,
        state: "running",
        started_at: record.run.started_at ?? at,
        heartbeat_at: at,
        stage: record.checkpoint.stage,
      };
      const claimed: RunRecord = {
        ...record,
        run,
        stageSince: record.run.stage === run.stage ? record.stageSince : now,
        fence: record.fence + 1,
        attempts: record.attempts + 1,
        leaseUntil: now + LEASE_MS,
        notBefore: null,
      };
      this.#state.saveRun(claimed, record.run.stage !== run.stage);
      return claimed;
    });
  }

  async #step(claimed: RunRecord, began: number): Promise<void> {
    const { run, checkpoint } = claimed;
    const { stage } = checkpoint;
    if (claimed.attempts > MAX_STEP_ATTEMPTS && stage !== "verify")
      return this.#fail(claimed, leaseExpired(stage, MAX_STEP_ATTEMPTS));
    if (stage === "fetch" && this.#state.currentVersion() === null)
      await adoptVersions(this.#state, this.#deps.store);
    const result = await this.#deps.pipeline.step(checkpoint, {
      mode: run.mode,
      forced: run.forced,
      source: run.source,
      current: this.#state.currentVersion(),
      archived: this.#state.archivedFiles(run.source),
      candidate: candidateOf(run),
    });
    if (!this.#commit(claimed, result)) return;
    const { counts, progress, accounting, rejects_total } = { ...run, ...result.patch };
    this.#log("info", "ingest_step", run, {
      stage,
      duration_ms: this.#deps.now() - began,
      counts,
      progress,
      ...(stage === "parse" && { filtered: accounting?.filtered, rejects: rejects_total }),
    });
  }

  /**
   * Commits what a claimed step came to.
   *
   * @returns false if the step has been claimed again since, or is to be done again after a pause.
   */
  #commit(claimed: RunRecord, result: StepResult): boolean {
    let isDone = true;
    const isCommitted = this.#underFence(claimed, (record) => {
      if (isToBeCancelled(record, claimed.checkpoint.stage))
        return this.#ended(record, "cancelled");
      const run: Run = { ...record.run, ...result.patch };
      const next = { ...record, run, attempts: 0, leaseUntil: null };
      if (result.next === null) {
        if (result.outcome === "published" && run.generation_after !== null)
          this.#state.setReplicated(run.generation_after);
        if (result.outcome !== "dry_run") this.#state.setArchivedFiles(run.source, run.upstream);
        return this.#ended(next, "succeeded", { outcome: result.outcome });
      }
      if (result.publish === null) return { ...next, checkpoint: result.next };
      // What would be published while paused is kept for after the resume.
      isDone = this.#state.pause() === null;
      if (!isDone) return { ...next, run: record.run };
      this.#state.addVersion(result.publish);
      return { ...next, checkpoint: result.next };
    });
    return isCommitted && isDone;
  }

  /** Repeats a step that may yet succeed; what is recorded as published is repeated without end. */
  #takeFault(
    claimed: RunRecord,
    { cause, began }: { readonly cause: unknown; readonly began: number },
  ): void {
    const { stage } = claimed.checkpoint;
    const failure = toFailure(cause, stage);
    const isLast = claimed.attempts >= MAX_STEP_ATTEMPTS && stage !== "verify";
    this.#log("warn", "ingest_step_failed", claimed.run, {
      stage,
      duration_ms: this.#deps.now() - began,
      error_code: failure.error.code,
      attempt: claimed.attempts,
      ...describeError(cause),
    });
    if (failure.retry?.step !== true || isLast) return this.#fail(claimed, failure);
    this.#underFence(claimed, (record) => {
      if (isToBeCancelled(record, stage)) return this.#ended(record, "cancelled");
      return {
        ...record,
        run: { ...record.run, retries: record.run.retries + 1 },
        leaseUntil: null,
        notBefore: this.#deps.now() + backoffMs(claimed.attempts),
      };
    });
  }

  /** Ends a run as failed; one whose fault may pass is tried once more later, as a run of its own. */
  #fail(claimed: RunRecord, { error, retry, patch }: RunFailure): void {
    this.#underFence(claimed, (record) => {
      if (record.cancelRequestedBy !== null)
        return this.#ended(record, "cancelled", { ...patch, error });
      this.#queueSecondTry(record, retry?.runAfterMs ?? null);
      return this.#ended(record, "failed", { ...patch, error });
    });
  }

  #queueSecondTry(failed: RunRecord, afterMs: number | null): void {
    if (afterMs === null) return;
    const made = newRunOf(this.#deps, failed.run.source);
    const { waiting } = this.#state.queue();
    const next = retryOf(failed, { made, waiting, notBefore: this.#deps.now() + afterMs });
    if (next !== null) this.#state.saveRun(next, true);
  }

  /** Saves what becomes of a claimed run, if its fence is still the one that was given out. */
  #underFence(claimed: RunRecord, change: (record: RunRecord) => RunRecord): boolean {
    const changed = this.#state.transaction(() => {
      const record = this.#state.findRun(claimed.run.id);
      if (record?.fence !== claimed.fence || record.run.state !== "running") return undefined;
      const next = change(record);
      this.#state.saveRun(next, !isOpen(next.run.state));
      return next;
    });
    if (changed === undefined) return false;
    if (!isOpen(changed.run.state)) this.#deps.runEnded(changed.run);
    return true;
  }

  #ended(record: RunRecord, state: RunState, patch: Partial<Run> = {}): RunRecord {
    return endedRecord(record, { state, finished_at: this.#at(), patch });
  }

  #at(): string {
    return new Date(this.#deps.now()).toISOString();
  }

  #log(level: LogLevel, event: string, run: Run, fields: object): void {
    this.#deps.log(level, event, { run_id: run.id, trigger: run.trigger, ...fields });
  }
}

/** What is recorded as published is not cancelled any more. */
function isToBeCancelled({ cancelRequestedBy }: RunRecord, stage: Stage): boolean {
  return cancelRequestedBy !== null && stage !== "verify";
}
