import { DurableObject } from "cloudflare:workers";
import type { BackupJobs, JobResult, RunRequest } from "../backup/backup-jobs.ts";
import type { Job } from "../backup/job.ts";
import type { RemoveResult } from "../backup/remove-backup.ts";
import type { Manifest } from "../catalog/manifest.ts";
import type { CoordinatorDependencies } from "../ingest/coordinator-dependencies.ts";
import type { CoordinatorState, OutboxRow } from "../ingest/coordinator-state.ts";
import { type CoordinatorStatus, describeStatus } from "../ingest/coordinator-status.ts";
import { areArchived } from "../ingest/fetch-sources.ts";
import { Outbox } from "../ingest/outbox.ts";
import type { PauseRequest } from "../ingest/pause.ts";
import { PublishedVersions, type RollbackResult } from "../ingest/published-versions.ts";
import {
  dueSince,
  type EnqueueRequest,
  type EnqueueResult,
  isHeld,
  nextAlarm,
  nextToStep,
} from "../ingest/queue.ts";
import { type CancelResult, type PauseAnswer, RunControl } from "../ingest/run-control.ts";
import { type ListedRun, type Run, toListed } from "../ingest/run.ts";
import { LEASE_MS, StepRunner } from "../ingest/step-runner.ts";
import type { Version } from "../ingest/versions.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { Reconciler } from "./reconciler.ts";

/** The jobs about backups, as far as they are asked here. */
export type Jobs = Pick<BackupJobs, keyof BackupJobs>;

/**
 * The Durable Object that ingests and makes backups. It decides by pure rules over its tables, and
 * works from its alarm, one bounded step at a time. An alarm arms a watchdog first, takes a step, and
 * then does what is left to do in the stores and in D1.
 *
 * Runs and jobs take their turns in one queue: one of them is under way at a time, so that none has
 * to exclude another. A run that a pause holds lets jobs go before it.
 *
 * A version is published by being recorded; bringing the stores to it is then repeated until it
 * succeeds, also while paused.
 */
export class Coordinator extends DurableObject<unknown> {
  readonly #deps: CoordinatorDependencies;
  readonly #jobs: Jobs;
  readonly #state: CoordinatorState;
  readonly #control: RunControl;
  readonly #steps: StepRunner;
  readonly #versions: PublishedVersions;
  readonly #reconciler: Reconciler;
  readonly #garbage: GarbageCollector;
  readonly #history: Outbox<OutboxRow>;
  readonly #audit: Outbox<AuditEntry>;
  #isReconcileDue = false;

  constructor(
    platform: readonly [ctx: DurableObjectState, env: unknown],
    deps: CoordinatorDependencies,
    jobs: Jobs,
  ) {
    super(...platform);
    this.#deps = deps;
    this.#jobs = jobs;
    this.#state = deps.state;
    this.#versions = new PublishedVersions(deps);
    this.#reconciler = new Reconciler(deps);
    this.#garbage = new GarbageCollector(deps);
    const runEnded = (run: Run) => {
      logEnd(run, deps.log);
      deps.pipeline.forget();
    };
    this.#control = new RunControl({ ...deps, runEnded, jobAhead: () => jobs.last() });
    this.#steps = new StepRunner({ ...deps, runEnded });
    this.#history = historyOutbox(deps);
    this.#audit = auditOutbox(deps);
  }

  /**
   * Puts a run in the queue, unless one that would do the same waits already, or the candidate that
   * it is to work from is archived no more. Throws if the archive does not answer.
   */
  async enqueue(request: EnqueueRequest): Promise<EnqueueResult> {
    const { candidate } = request;
    if (candidate !== null && !(await areArchived(this.#deps.archive, candidate.upstream)))
      return { ok: false, reason: "candidate_gone" };
    return this.#thenRearm(() => this.#control.enqueue(request));
  }

  /** Takes a cron tick: once, however often it fires. */
  tick(cron: string, scheduledAt: number, request: EnqueueRequest): Promise<void> {
    return this.#thenRearm(() => this.#control.tick(cron, scheduledAt, request));
  }

  /** Pauses dispatch and publishing, at the next step boundary. */
  pause(request: PauseRequest, cancelRunning: boolean): Promise<PauseAnswer> {
    return this.#thenRearm(() => this.#control.pause(request, cancelRunning));
  }

  /** Lifts the pause. What waits goes on; ticks that were skipped are not made up for. */
  resume(): Promise<PauseAnswer> {
    return this.#thenRearm(() => this.#control.resume());
  }

  /** Cancels a run: at once if it waits, else at the next step boundary before it publishes. */
  cancel(id: string, by: string): Promise<CancelResult> {
    return this.#thenRearm(() => this.#control.cancel(id, by));
  }

  /** Publishes a retained version again, under a new generation. */
  rollback(generation: number): Promise<RollbackResult> {
    return this.#thenRearm(() => {
      const result = this.#versions.rollBack(generation);
      if (result.ok && result.changed) this.#reconciler.versionsChanged();
      return result;
    });
  }

  /** Makes a backup, or says which one that is under way has all that is asked for. */
  backUp(request: RunRequest): Promise<JobResult> {
    return this.#thenRearm(() => this.#jobs.run(request));
  }

  /** Takes a cron tick for a job: once, however often it fires. */
  tickJob(cron: string, scheduledAt: number, task: "back_up" | "verify_backup"): Promise<void> {
    const key = `${cron} ${scheduledAt}`;
    const request = { trigger: "cron", note: null, pin: false, requested_by: "cron" } as const;
    return this.#thenRearm(() =>
      task === "back_up" ? this.#jobs.runOnce(key, request) : this.#jobs.verifyNewestOnce(key),
    );
  }

  verifyBackup(id: string, by: string): Promise<JobResult> {
    return this.#thenRearm(() => this.#jobs.verify(id, by));
  }

  restoreBackup(id: string, by: string): Promise<JobResult> {
    return this.#thenRearm(() => this.#jobs.restore(id, by));
  }

  removeBackup(id: string): Promise<RemoveResult> {
    return this.#jobs.remove(id);
  }

  findJob(id: string): Job | null {
    return this.#jobs.findJob(id);
  }

  /** Jobs, the newest first. */
  jobs(limit: number): Job[] {
    return this.#jobs.jobs(limit);
  }

  findRun(id: string): Run | null {
    return this.#state.findRun(id)?.run ?? null;
  }

  /** Runs that D1 may show otherwise or not at all: open ones, and those that wait for it. */
  unsettledRuns(): ListedRun[] {
    const { waiting, running } = this.#state.queue();
    const open = [...waiting, ...(running === undefined ? [] : [running])].map(({ run }) => run);
    const runs = new Map(this.#state.outboxRuns().map((run) => [run.id, run]));
    for (const run of open) runs.set(run.id, run);
    return [...runs.values()].map(toListed);
  }

  /** Keeps an audit entry until D1 takes it. */
  keepAuditEntry(entry: AuditEntry): Promise<void> {
    return this.#thenRearm(() => this.#state.addAuditEntry(entry));
  }

  /** The retained versions, the newest first. */
  versions(): Version[] {
    return this.#versions.list();
  }

  /** The manifest of a retained version, or null. */
  findVersion(generation: number): Manifest | null {
    return this.#versions.find(generation);
  }

  /** The highest coverage (0 to 1) of each locale in the retained versions. */
  bestCoverage(): { readonly [locale: string]: number } {
    return this.#versions.bestCoverage();
  }

  status(): CoordinatorStatus {
    return describeStatus(this.#state, this.#deps.now());
  }

  /**
   * Has the stores and D1 compared with what is recorded here, and garbage collected, at the next
   * alarm, which is set anew: one that lies far ahead since the clock was set back is replaced.
   */
  async reconcile(): Promise<void> {
    this.#isReconcileDue = true;
    await this.#rearm();
  }

  /** Does what is due, then sets the alarm to when something is due next. */
  override async alarm(): Promise<void> {
    await this.#deps.setAlarm(this.#deps.now() + LEASE_MS);
    if (this.#isJobsTurn()) await this.#jobs.takeNext();
    else await this.#steps.takeNext();
    await this.#reconciler.replicate();
    await this.#history.drain();
    await this.#audit.drain();
    if (this.#isReconcileDue) await this.#reconcile();
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

  async #reconcile(): Promise<void> {
    this.#isReconcileDue = false;
    await this.#reconciler.reconcile();
    const isIdle = this.#state.queue().running === undefined && this.#jobs.first() === null;
    if (isIdle) await this.#garbage.collect();
  }

  /** Whether the next step is one of a job: of what waits, the one that was asked for first. */
  #isJobsTurn(): boolean {
    const job = this.#jobs.first();
    if (job === null) return false;
    const view = this.#state.queue();
    const isRunUnderWay = view.running !== undefined && !isHeld(view.running, view.pause);
    if (job.state === "running" || isRunUnderWay) return job.state === "running";
    const run = nextToStep(view, this.#deps.now());
    return run === undefined || dueSince(run) >= Date.parse(job.queued_at);
  }

  async #thenRearm<T>(change: () => T | Promise<T>): Promise<T> {
    const result = await change();
    await this.#rearm();
    return result;
  }

  #rearm(): Promise<void> {
    return this.#deps.setAlarm(this.#dueAt());
  }

  /** When something is due next; null if nothing is. */
  #dueAt(): number | null {
    const now = this.#deps.now();
    const view = this.#state.queue();
    const isJobsTurn = this.#isJobsTurn();
    const others = [
      isJobsTurn ? this.#jobs.dueAt() : null,
      this.#history.dueAt(),
      this.#audit.dueAt(),
      this.#reconciler.dueAt(),
      this.#isReconcileDue ? now : null,
    ];
    const due = isJobsTurn ? { ...view, waiting: [], running: undefined } : view;
    return nextAlarm(due, { now, others });
  }
}

function logEnd(run: Run, log: CoordinatorDependencies["log"]): void {
  const { id, trigger, state, outcome, error, counts, duration_ms, generation_after } = run;
  log(state === "failed" ? "error" : "info", "ingest_ended", {
    run_id: id,
    trigger,
    state,
    outcome,
    ...(error && { stage: error.stage, error_code: error.code, error: error.message }),
    counts,
    generation: generation_after,
    duration_ms: duration_ms,
  });
}

function historyOutbox(deps: CoordinatorDependencies): Outbox<OutboxRow> {
  const { state, historyDeadlineMs: deadlineMs, now, log } = deps;
  return new Outbox({
    unreachable: "history_unreachable",
    length: () => state.outboxLength(),
    rows: (limit) => state.outbox(limit),
    send: deps.saveRuns,
    forget: (rows) => state.trimOutbox(rows.at(-1)?.seq ?? 0),
    sent: async (rows) => {
      if (rows.some(({ run }) => run.state === "succeeded")) await deps.deleteOldRuns();
    },
    deadlineMs,
    now,
    log,
  });
}

function auditOutbox(deps: CoordinatorDependencies): Outbox<AuditEntry> {
  const { state, historyDeadlineMs: deadlineMs, now, log } = deps;
  return new Outbox({
    unreachable: "audit_unreachable",
    length: () => state.auditLength(),
    rows: (limit) => state.auditEntries(limit),
    send: deps.saveAudit,
    forget: (entries) => state.removeAuditEntries(entries),
    deadlineMs,
    now,
    log,
  });
}
