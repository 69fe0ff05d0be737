import type { Manifest } from "../catalog/manifest.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";
import type { CoordinatorState, OutboxRow } from "./coordinator-state.ts";
import { type CoordinatorStatus, describeStatus } from "./coordinator-status.ts";
import { areArchived } from "./fetch-sources.ts";
import type { HoldRequest, HoldResult } from "./hold.ts";
import { Outbox } from "./outbox.ts";
import type { PauseRequest } from "./pause.ts";
import { PublishedVersions, type RollbackResult } from "./published-versions.ts";
import { type EnqueueRequest, type EnqueueResult, nextAlarm, type QueueView } from "./queue.ts";
import { type CancelResult, type PauseAnswer, RunControl } from "./run-control.ts";
import { type ListedRun, type Run, toListed } from "./run.ts";
import { LEASE_MS, StepRunner } from "./step-runner.ts";
import { StoreUpkeep } from "./store-upkeep.ts";
import type { Version } from "./versions.ts";

/**
 * The one who ingests. Decides by pure rules over its tables, and works from its alarm, one bounded
 * step at a time. An alarm arms a watchdog first, takes a step, and then does what is left to do in
 * the stores and in D1.
 *
 * A version is published by being recorded; bringing the stores to it is then repeated until it
 * succeeds, also while paused.
 */
export class Coordinator {
  readonly #deps: CoordinatorDependencies;
  readonly #state: CoordinatorState;
  readonly #control: RunControl;
  readonly #steps: StepRunner;
  readonly #versions: PublishedVersions;
  readonly #upkeep: StoreUpkeep;
  readonly #history: Outbox<OutboxRow>;
  readonly #audit: Outbox<AuditEntry>;

  constructor(deps: CoordinatorDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#versions = new PublishedVersions(deps);
    this.#upkeep = new StoreUpkeep(deps);
    const runEnded = (run: Run) => {
      logEnd(run, deps.log);
      deps.pipeline.forget();
      this.#upkeep.lookForGarbage();
      deps.runEnded(run);
    };
    this.#control = new RunControl({ ...deps, runEnded, quietAt: () => this.#upkeep.quietAt() });
    this.#steps = new StepRunner({
      ...deps,
      runEnded,
      mayBegin: () => !this.#upkeep.isDeleting(),
      storeFailed: (stage) => this.#upkeep.storeFailed(stage),
    });
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
      if (result.ok) this.#upkeep.versionsChanged();
      return result;
    });
  }

  /**
   * Holds the coordinator for a job, or goes on doing so: no step of a run begins, no row of the
   * history leaves for D1, and nothing is deleted, until `release` or the hold's end. It is not
   * ready while a deletion that had begun may go on: what a restore wrote would be deleted.
   */
  hold(request: HoldRequest): Promise<HoldResult> {
    return this.#thenRearm(() => {
      const result = this.#control.hold(request);
      return result.ok ? { ...result, ready: result.ready && !this.#upkeep.isDeleting() } : result;
    });
  }

  /** Ends the hold of a job, if it is its. */
  release(by: string): Promise<void> {
    return this.#thenRearm(() => this.#control.release(by));
  }

  /** Notes blobs that are about to be stored by somebody else. */
  noteBlobs(sha256s: readonly string[]): void {
    this.#state.transaction(() => this.#state.addBlobs(sha256s));
  }

  /** To be called when the tables have been replaced: what follows from them is due at once. */
  stateReplaced(): Promise<void> {
    return this.#thenRearm(() => {
      this.#deps.pipeline.forget();
      this.#upkeep.versionsChanged();
    });
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

  /** Does what is due, then sets the alarm to when something is due next. */
  async alarm(): Promise<void> {
    await this.#deps.setAlarm(this.#deps.now() + LEASE_MS);
    await this.#steps.takeNext();
    await this.#upkeep.replicate();
    await this.#upkeep.lookAgain();
    await this.#upkeep.collectGarbage();
    await this.#history.drain(() => this.#state.holdAt(this.#deps.now()) === null);
    await this.#audit.drain();
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

  async #thenRearm<T>(change: () => T): Promise<T> {
    const result = change();
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
    const hold = this.#state.holdAt(now);
    const idle: QueueView = { ...view, waiting: [], running: undefined };
    const others = [
      hold === null ? this.#history.dueAt() : hold.until,
      this.#audit.dueAt(),
      this.#upkeep.dueAt(),
    ];
    const quietAt = this.#upkeep.quietAt();
    return nextAlarm(hold === null ? view : idle, { now, quietAt, others });
  }
}

function logEnd(run: Run, log: CoordinatorDependencies["log"]): void {
  const { id, trigger, state, outcome, error, counts, durationMs, generationAfter } = run;
  log(state === "failed" ? "error" : "info", "ingest_ended", {
    run_id: id,
    trigger,
    state,
    outcome,
    ...(error && { stage: error.stage, error_code: error.code, error: error.message }),
    counts,
    generation: generationAfter,
    duration_ms: durationMs,
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
