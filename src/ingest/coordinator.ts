import type { Manifest } from "../catalog/manifest.ts";
import { describeError } from "../log.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { CoordinatorState, RunRecord } from "./coordinator-state.ts";
import { type RunFailure, RunFault, toFailure } from "./faults.ts";
import { decidePause, hasEnded, type Pause, type PauseRequest } from "./pause.ts";
import { FIRST_CHECKPOINT, type StepResult } from "./checkpoint.ts";
import { decideHold, type Hold, type HoldRequest, type HoldResult, isInForce } from "./hold.ts";
import type { Pipeline } from "./pipeline.ts";
import { replicate } from "./publisher.ts";
import {
  backoffMs,
  decideEnqueue,
  decideTick,
  type EnqueueRequest,
  type EnqueueResult,
  MAX_STEP_ATTEMPTS,
  type NewRun,
  newRun,
  nextAlarm,
  nextToStep,
  type QueueView,
  retryOf,
} from "./queue.ts";
import { type EndedRun, isOpen, type Run, type RunState, type Stage } from "./run.ts";
import { bestCoverage, describeVersion, garbage, rolledBack, type Version } from "./versions.ts";

/** If an alarm dies without a word, the next one begins after this time. */
export const LEASE_MS = 120_000;
/** Rows sent to D1 at a time. */
const OUTBOX_BATCH = 20;
/** Blobs deleted in one alarm. */
const GARBAGE_BATCH = 100;
/** After a store refused, how long to leave it alone. */
const STORE_RETRY_MS = 30_000;
/** How often to ask whether the backup before a forced publication is done. */
const BACKUP_POLL_MS = 2_000;

export interface CoordinatorDependencies {
  readonly state: CoordinatorState;
  readonly pipeline: Pipeline;
  readonly store: CatalogStore;
  /** Writes rows to D1, any number of times. Throws if D1 refuses. */
  readonly saveRuns: (
    rows: readonly { readonly seq: number; readonly run: Run }[],
  ) => Promise<void>;
  /** Writes audit entries to D1, any number of times. Throws if D1 refuses. */
  readonly saveAudit: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Deletes history that is past its retention. Throws if D1 refuses. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** Makes a backup before a forced run publishes, or says how far the one for this run is. */
  readonly backUpFirst: (runId: string) => Promise<BackupFirst>;
  /** Replaces the one alarm; null takes it away. */
  readonly setAlarm: (at: number | null) => Promise<void>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: (event: string, fields: { readonly [name: string]: unknown }) => void;
  /**
   * Is told of each run that has ended with one of its steps; one that was cancelled while it
   * waited has changed nothing. Returns at once and never throws.
   */
  readonly runEnded: (run: Run) => void;
  /** Name of the configured upstream. */
  readonly source: string;
  readonly workerVersion: string | null;
}

/** How far the backup is that a forced run waits for. */
export type BackupFirst =
  { readonly state: "done" | "under_way" } | { readonly state: "failed"; readonly message: string };

/** What a pause or resume came to. */
export interface PauseAnswer {
  readonly pause: Pause | null;
  /** The pause before the call. */
  readonly before: Pause | null;
  readonly changed: boolean;
  readonly runningRunId: string | null;
  readonly queued: number;
}

export type CancelResult =
  | {
      readonly ok: true;
      readonly disposition: "cancelled" | "cancelling";
      /** The run's state before the call. */
      readonly before: RunState;
      readonly run: Run;
    }
  | { readonly ok: false; readonly reason: "not_found" | "ended" | "too_late" };

export type RollbackResult =
  | { readonly ok: true; readonly version: Version }
  | { readonly ok: false; readonly reason: "not_retained" | "is_current" };

function leaseExpired(stage: Stage): RunFailure {
  const message = `the step was begun ${MAX_STEP_ATTEMPTS} times and never ended`;
  return {
    error: { code: "lease_expired", stage, message },
    retry: { step: false, afterMs: 0 },
    guards: [],
  };
}

/** What the coordinator holds at present. */
export interface CoordinatorStatus {
  readonly pause: Pause | null;
  readonly running: Run | null;
  readonly queued: readonly Run[];
  /** The runs that ended last and are remembered, newest first. */
  readonly ended: readonly EndedRun[];
  readonly current: Version | null;
  /** Whether the stores show the current version. */
  readonly replicated: boolean;
  /** Rows that wait for D1. */
  readonly outboxLength: number;
  /** Until when the present step is claimed (RFC 3339); null between two steps. */
  readonly leaseUntil: string | null;
  /** When the newest tick of each cron trigger was due (milliseconds since 1970). */
  readonly lastTicks: { readonly [cron: string]: number };
  /** When the oldest retained version was published (RFC 3339). */
  readonly oldestPublishedAt: string | null;
}

/**
 * The one who ingests. Decides by pure rules over its tables, and works from its alarm, one bounded
 * step at a time.
 *
 * An alarm arms a watchdog first, claims a step in a transaction, does it, and commits only if
 * nobody has claimed it since. A crash between two of these repeats the step and loses nothing. A
 * version is published by being recorded; bringing the stores to it is then repeated until it
 * succeeds, also while paused.
 */
export class Coordinator {
  readonly #deps: CoordinatorDependencies;
  readonly #state: CoordinatorState;
  /** Not before these times are D1 and the catalog's stores tried again. */
  #outboxRetryAt = 0;
  #auditRetryAt = 0;
  #replicateRetryAt = 0;
  #hasMoreGarbage = false;

  constructor(deps: CoordinatorDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Puts a run in the queue, unless one that would do the same waits already. */
  async enqueue(request: EnqueueRequest): Promise<EnqueueResult> {
    const wanted = newRun(this.#newRun(request.source), request);
    const result = this.#state.transaction((): EnqueueResult => {
      this.#liftEnded();
      if (this.#hold()?.kind === "restore") return { ok: false, reason: "restoring" };
      const decided = decideEnqueue(wanted, this.#state.queue(), request.ifPaused);
      if (decided.add !== null) this.#state.saveRun(decided.add, true);
      return decided.result;
    });
    const outcome = result.ok ? result.answer.disposition : result.reason;
    this.#log("ingest_enqueue", result.ok ? result.answer.run : wanted.run, { outcome });
    await this.#rearm();
    return result;
  }

  /**
   * Takes a cron tick: once, however often it fires. One that comes while paused, or while the same
   * run waits, is only counted, in one row.
   */
  async tick(cron: string, scheduledAt: number, request: EnqueueRequest): Promise<void> {
    const wanted = newRun(this.#newRun(request.source), request);
    this.#state.transaction(() => {
      this.#liftEnded();
      // A restore replaces the queue: it comes to what the restored one makes of the next tick.
      if (this.#hold()?.kind === "restore") return;
      if (!this.#state.addTick(cron, scheduledAt)) return;
      const reason = decideTick(wanted, this.#state.queue());
      if (reason === null) {
        this.#state.setSkippedRunId(null);
        this.#state.saveRun(wanted, true);
        return;
      }
      const open = this.#state.findRun(this.#state.skippedRunId() ?? "");
      const row = open?.run.skippedReason === reason ? open : wanted;
      const at = this.#at();
      this.#state.saveRun(
        {
          ...row,
          run: {
            ...row.run,
            state: "skipped",
            skippedReason: reason,
            skipCount: row.run.skipCount + 1,
            finishedAt: at,
          },
        },
        true,
      );
      this.#state.setSkippedRunId(row.run.id);
    });
    await this.#rearm();
  }

  /** Pauses dispatch and publishing, at the next step boundary. */
  async pause(request: PauseRequest, cancelRunning: boolean): Promise<PauseAnswer> {
    const answer = this.#state.transaction(() => {
      this.#liftEnded();
      const before = this.#state.pause();
      const decided = decidePause(before, request, this.#at());
      this.#state.setPause(decided.pause);
      this.#touchPause();
      const { running } = this.#state.queue();
      if (cancelRunning && running !== undefined) this.#cancelRunning(running, request.by);
      return this.#pauseAnswer(before, decided.changed);
    });
    await this.#rearm();
    return answer;
  }

  /** Lifts the pause. What waits goes on; ticks that were skipped are not made up for. */
  async resume(): Promise<PauseAnswer> {
    const answer = this.#state.transaction(() => {
      this.#liftEnded();
      const before = this.#state.pause();
      this.#lift();
      this.#touchPause();
      return this.#pauseAnswer(before, before !== null);
    });
    await this.#rearm();
    return answer;
  }

  /** Cancels a run: at once if it waits, else at the next step boundary before it publishes. */
  async cancel(id: string, by: string): Promise<CancelResult> {
    const result = this.#state.transaction((): CancelResult => {
      const record = this.#state.findRun(id);
      if (record === undefined) return { ok: false, reason: "not_found" };
      if (!isOpen(record.run.state)) return { ok: false, reason: "ended" };
      if (record.run.state === "queued") return this.#cancelNow(record, by);
      return this.#cancelRunning(record, by);
    });
    await this.#rearm();
    return result;
  }

  /** Publishes a retained version again, under a new generation. */
  async rollback(generation: number): Promise<RollbackResult> {
    const result = this.#state.transaction((): RollbackResult => {
      const current = this.#state.currentVersion();
      const earlier = this.#state.findVersion(generation);
      if (current === null || earlier === undefined) return { ok: false, reason: "not_retained" };
      if (earlier.generation === current.generation) return { ok: false, reason: "is_current" };
      const manifest = rolledBack(earlier, current, this.#at());
      this.#state.addVersion(manifest);
      return { ok: true, version: describeVersion(manifest, manifest.generation) };
    });
    this.#replicateRetryAt = 0;
    await this.#rearm();
    return result;
  }

  /**
   * Holds the coordinator for a job, or goes on doing so: no step of a run begins, nothing leaves
   * for D1, and no blob is deleted, until `release` or the hold's end.
   */
  async hold(request: HoldRequest): Promise<HoldResult> {
    const result = this.#state.transaction(() => {
      const now = this.#deps.now();
      const { running } = this.#state.queue();
      const decided = decideHold(request, { present: this.#state.hold(), running, now });
      if (!decided.result.ok) return decided.result;
      this.#state.setHold(decided.hold);
      // A step whose lease ran out may still be waiting for a store: it must not commit now.
      const isStale = decided.result.ready && running !== undefined && running.leaseUntil !== null;
      if (isStale)
        this.#state.saveRun({ ...running, fence: running.fence + 1, leaseUntil: null }, false);
      return decided.result;
    });
    await this.#rearm();
    return result;
  }

  /** Ends the hold of a job, if it is its. */
  async release(by: string): Promise<void> {
    this.#state.transaction(() => {
      if (this.#state.hold()?.by === by) this.#state.setHold(null);
    });
    await this.#rearm();
  }

  /** Notes blobs that are about to be stored by somebody else. */
  noteBlobs(sha256s: readonly string[]): void {
    this.#state.transaction(() => this.#state.addBlobs(sha256s));
  }

  /** To be called when the tables have been replaced: what follows from them is due at once. */
  async stateReplaced(): Promise<void> {
    this.#deps.pipeline.forget();
    this.#replicateRetryAt = 0;
    await this.#rearm();
  }

  findRun(id: string): Run | null {
    return this.#state.findRun(id)?.run ?? null;
  }

  /** Runs that D1 may show otherwise or not at all: open ones, and those that wait for it. */
  unsettledRuns(): Run[] {
    const { waiting, running } = this.#state.queue();
    const open = [...waiting, ...(running === undefined ? [] : [running])].map(({ run }) => run);
    const runs = new Map(this.#state.outboxRuns().map((run) => [run.id, run]));
    for (const run of open) runs.set(run.id, run);
    return [...runs.values()];
  }

  /** Keeps an audit entry until D1 takes it. */
  async keepAuditEntry(entry: AuditEntry): Promise<void> {
    this.#state.addAuditEntry(entry);
    await this.#rearm();
  }

  /** The retained versions, the newest first. */
  versions(): Version[] {
    const versions = this.#state.versions();
    const current = versions[0]?.generation ?? 0;
    return versions.map((manifest) => describeVersion(manifest, current));
  }

  /** The manifest of a retained version, or null. */
  findVersion(generation: number): Manifest | null {
    return this.#state.findVersion(generation) ?? null;
  }

  /** The highest coverage (0 to 1) of each locale in the retained versions. */
  bestCoverage(): { readonly [locale: string]: number } {
    return bestCoverage(this.#state.versions());
  }

  status(): CoordinatorStatus {
    const { waiting, running, pause } = this.#state.queue();
    const current = this.#state.currentVersion();
    const isPaused = pause !== null && !hasEnded(pause, this.#deps.now());
    return {
      pause: isPaused ? pause : null,
      running: running?.run ?? null,
      queued: waiting.map(({ run }) => run),
      ended: this.#state.endedRuns(),
      current: current && describeVersion(current, current.generation),
      replicated: this.#state.unreplicated() === null,
      outboxLength: this.#state.outboxLength() + this.#state.auditLength(),
      leaseUntil: running?.leaseUntil ? new Date(running.leaseUntil).toISOString() : null,
      lastTicks: this.#state.lastTicks(),
      oldestPublishedAt: this.#state.versions().at(-1)?.published_at ?? null,
    };
  }

  /** Does what is due, then sets the alarm to when something is due next. */
  async alarm(): Promise<void> {
    await this.#deps.setAlarm(this.#deps.now() + LEASE_MS);
    const claimed = this.#claim();
    if (claimed !== undefined) await this.#step(claimed);
    await this.#replicate();
    await this.#collectGarbage();
    await this.#drainOutbox();
    await this.#drainAudit();
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

  #rearm(): Promise<void> {
    return this.#deps.setAlarm(this.#dueAt());
  }

  /** When something is due next; null if nothing is. */
  #dueAt(): number | null {
    const now = this.#deps.now();
    const view = this.#state.queue();
    const hold = this.#hold();
    if (hold !== null) {
      const replicateAt = this.#mayReplicate(view) ? this.#replicateRetryAt : null;
      const idle: QueueView = { ...view, waiting: [], running: undefined };
      return nextAlarm(idle, { now, others: [hold.until, replicateAt] });
    }
    const waitsForD1 = this.#state.outboxLength() > 0;
    const others = [
      waitsForD1 ? this.#outboxRetryAt : null,
      this.#state.auditLength() > 0 ? this.#auditRetryAt : null,
      this.#mayReplicate(view) || (this.#hasMoreGarbage && this.#mayCollect(view))
        ? this.#replicateRetryAt
        : null,
    ];
    return nextAlarm(view, { now, others });
  }

  /** Takes the next step of the run under way, or of the oldest that waits. */
  #claim(): RunRecord | undefined {
    return this.#state.transaction(() => {
      const now = this.#deps.now();
      this.#liftEnded();
      const record = this.#hold() === null ? nextToStep(this.#state.queue(), now) : undefined;
      if (record === undefined) return undefined;
      const at = this.#at();
      const run: Run = {
        ...record.run,
        state: "running",
        startedAt: record.run.startedAt ?? at,
        heartbeatAt: at,
        stage: record.checkpoint.stage,
      };
      const claimed: RunRecord = {
        ...record,
        run,
        fence: record.fence + 1,
        attempts: record.attempts + 1,
        leaseUntil: now + LEASE_MS,
        notBefore: null,
      };
      this.#state.saveRun(claimed, record.run.stage !== run.stage);
      return claimed;
    });
  }

  async #step(claimed: RunRecord): Promise<void> {
    const { run, checkpoint } = claimed;
    const began = this.#deps.now();
    if (claimed.cancelRequestedBy !== null && checkpoint.stage !== "verify")
      return this.#underFence(claimed, (record) => this.#ended(record, "cancelled", {}));
    try {
      if (claimed.attempts > MAX_STEP_ATTEMPTS && checkpoint.stage !== "verify")
        return this.#fail(claimed, leaseExpired(checkpoint.stage));
      if (!(await this.#isBackedUp(claimed))) return;
      const result = await this.#deps.pipeline.step(checkpoint, {
        mode: run.mode,
        forced: run.forced,
        source: run.source,
        current: this.#state.currentVersion(),
        archived: this.#state.archivedFiles(run.source),
        noteBlobs: (sha256s) => this.#state.addBlobs(sha256s),
      });
      this.#commit(claimed, result);
      const duration_ms = this.#deps.now() - began;
      const { counts, progress } = { ...run, ...result.patch };
      this.#log("ingest_step", run, { stage: checkpoint.stage, duration_ms, counts, progress });
    } catch (cause) {
      this.#takeFault(claimed, cause);
    }
  }

  /**
   * Whether a run may publish as far as backups are concerned. Force is the one way past the
   * guards, so what is served before is to be safe: without a backup nothing is forced.
   */
  async #isBackedUp(claimed: RunRecord): Promise<boolean> {
    const isForced = claimed.run.forced && claimed.checkpoint.stage === "publish";
    if (!isForced || this.#state.currentVersion() === null) return true;
    const backup = await this.#deps.backUpFirst(claimed.run.id);
    if (backup.state === "done") return true;
    if (backup.state === "failed") throw new RunFault("backup_failed", backup.message);
    this.#underFence(claimed, (record) => ({
      ...record,
      attempts: 0,
      leaseUntil: null,
      notBefore: this.#deps.now() + BACKUP_POLL_MS,
    }));
    return false;
  }

  /** Commits what a claimed step came to, unless the step has been claimed again since. */
  #commit(claimed: RunRecord, result: StepResult): void {
    this.#underFence(claimed, (record) => {
      const isCancelled =
        record.cancelRequestedBy !== null && claimed.checkpoint.stage !== "verify";
      if (isCancelled) return this.#ended(record, "cancelled", {});
      const run: Run = { ...record.run, ...result.patch };
      const next = { ...record, run, attempts: 0, leaseUntil: null };
      if (result.next === null) {
        if (result.outcome === "published" && run.generationAfter !== null)
          this.#state.setReplicated(run.generationAfter);
        if (result.outcome !== "dry_run") this.#state.setArchivedFiles(run.source, run.upstream);
        return this.#ended(next, "succeeded", { outcome: result.outcome });
      }
      if (result.publish === null) return { ...next, checkpoint: result.next };
      // What would be published while paused is kept for after the resume.
      if (this.#state.pause() !== null) return { ...next, run: record.run };
      this.#state.addVersion(result.publish);
      return { ...next, checkpoint: result.next };
    });
  }

  /** Repeats a step that may yet succeed; what is recorded as published is repeated without end. */
  #takeFault(claimed: RunRecord, cause: unknown): void {
    const { stage } = claimed.checkpoint;
    const failure = toFailure(cause, stage);
    const isLast = claimed.attempts >= MAX_STEP_ATTEMPTS && stage !== "verify";
    if (failure.retry?.step !== true || isLast) return this.#fail(claimed, failure);
    this.#log("ingest_step_failed", claimed.run, { ...failure.error, ...describeError(cause) });
    this.#underFence(claimed, (record) => {
      if (record.cancelRequestedBy !== null && stage !== "verify")
        return this.#ended(record, "cancelled", {});
      return {
        ...record,
        run: { ...record.run, retries: record.run.retries + 1 },
        leaseUntil: null,
        notBefore: this.#deps.now() + backoffMs(claimed.attempts),
      };
    });
  }

  /** Ends a run as failed; one whose fault may pass is tried once more, as a run of its own. */
  #fail(claimed: RunRecord, { error, retry, guards }: RunFailure): void {
    this.#underFence(claimed, (record) => {
      if (record.cancelRequestedBy !== null) return this.#ended(record, "cancelled", { error });
      const next = retry && retryOf(record, this.#newRun(record.run.source));
      if (next) this.#state.saveRun({ ...next, notBefore: this.#deps.now() + retry.afterMs }, true);
      return this.#ended(record, "failed", { error, ...(guards.length > 0 && { guards }) });
    });
  }

  /** Saves what becomes of a claimed run, if its fence is still the one that was given out. */
  #underFence(claimed: RunRecord, change: (record: RunRecord) => RunRecord): void {
    const changed = this.#state.transaction(() => {
      const record = this.#state.findRun(claimed.run.id);
      if (record?.fence !== claimed.fence || record.run.state !== "running") return undefined;
      const next = change(record);
      this.#state.saveRun(next, !isOpen(next.run.state));
      return next;
    });
    if (changed === undefined || isOpen(changed.run.state)) return;
    this.#deps.pipeline.forget();
    const { state, outcome, error, counts, generationAfter } = changed.run;
    this.#log("ingest_ended", changed.run, {
      state,
      outcome,
      error,
      counts,
      generation: generationAfter,
    });
    this.#deps.runEnded(changed.run);
  }

  #cancelNow(record: RunRecord, by: string): CancelResult {
    const ended = this.#ended({ ...record, cancelRequestedBy: by }, "cancelled", {});
    this.#state.saveRun(ended, true);
    return { ok: true, disposition: "cancelled", before: record.run.state, run: ended.run };
  }

  #cancelRunning(record: RunRecord, by: string): CancelResult {
    if (record.checkpoint.stage === "verify") return { ok: false, reason: "too_late" };
    if (record.leaseUntil === null) return this.#cancelNow(record, by);
    this.#state.saveRun({ ...record, cancelRequestedBy: by }, false);
    return { ok: true, disposition: "cancelling", before: record.run.state, run: record.run };
  }

  #ended(record: RunRecord, state: Run["state"], patch: Partial<Run>): RunRecord {
    const finishedAt = this.#at();
    const durationMs = Date.parse(finishedAt) - Date.parse(record.run.startedAt ?? finishedAt);
    const run: Run = { ...record.run, ...patch, state, finishedAt, durationMs };
    return { ...record, run, checkpoint: FIRST_CHECKPOINT, leaseUntil: null, notBefore: null };
  }

  /** A pause ends at its time, also when the alarm that lifts it comes late. */
  #liftEnded(): void {
    const pause = this.#state.pause();
    if (pause !== null && hasEnded(pause, this.#deps.now())) this.#lift();
  }

  #lift(): void {
    this.#state.setPause(null);
    this.#state.setSkippedRunId(null);
  }

  /** The hold that is in force. */
  #hold(): Hold | null {
    const hold = this.#state.hold();
    return isInForce(hold, this.#deps.now()) ? hold : null;
  }

  /** What people say of the pause while a restore is under way is to outlive it. */
  #touchPause(): void {
    const hold = this.#hold();
    if (hold !== null) this.#state.setHold({ ...hold, pauseTouched: true });
  }

  /** A run that verifies brings the stores to the version itself. */
  #mayReplicate({ running }: QueueView): boolean {
    return this.#state.unreplicated() !== null && running?.checkpoint.stage !== "verify";
  }

  #mayCollect({ running }: QueueView): boolean {
    const isIdle = running === undefined && this.#hold() === null;
    return this.#state.unreplicated() === null && isIdle;
  }

  /** Brings the stores to the version that was recorded last, and clears up after it. */
  async #replicate(): Promise<void> {
    const manifest = this.#state.unreplicated();
    if (manifest === null || !this.#mayReplicate(this.#state.queue())) return;
    if (this.#deps.now() < this.#replicateRetryAt) return;
    try {
      await replicate(this.#deps.store, manifest);
      this.#state.setReplicated(manifest.generation);
    } catch (cause) {
      this.#replicateRetryAt = this.#deps.now() + STORE_RETRY_MS;
      this.#deps.log("replication_failed", {
        generation: manifest.generation,
        ...describeError(cause),
      });
    }
  }

  /**
   * Deletes some blobs that no retained version names. Only between runs, since a run has stored
   * blobs that no version names yet.
   */
  async #collectGarbage(): Promise<void> {
    if (!this.#mayCollect(this.#state.queue())) return;
    if (this.#deps.now() < this.#replicateRetryAt) return;
    const all = garbage(this.#state.blobs(), this.#state.versions());
    const unnamed = all.slice(0, GARBAGE_BATCH);
    this.#hasMoreGarbage = unnamed.length > 0;
    if (unnamed.length === 0) return;
    try {
      await this.#deps.store.deleteBlobs(unnamed);
      this.#state.removeBlobs(unnamed);
      this.#hasMoreGarbage = all.length > unnamed.length;
      this.#deps.log("garbage_collected", { blobs: unnamed.length });
    } catch (cause) {
      this.#replicateRetryAt = this.#deps.now() + STORE_RETRY_MS;
      this.#deps.log("garbage_refused", describeError(cause));
    }
  }

  /** Sends waiting rows to D1; what it refuses waits. */
  async #drainOutbox(): Promise<void> {
    while (this.#deps.now() >= this.#outboxRetryAt && this.#hold() === null) {
      const rows = this.#state.outbox(OUTBOX_BATCH);
      const last = rows.at(-1);
      if (last === undefined) return;
      try {
        await this.#deps.saveRuns(rows);
        this.#state.trimOutbox(last.seq);
        if (rows.some(({ run }) => run.state === "succeeded")) await this.#deps.deleteOldRuns();
      } catch (cause) {
        this.#outboxRetryAt = this.#deps.now() + STORE_RETRY_MS;
        this.#deps.log("history_unreachable", describeError(cause));
      }
    }
  }

  /** Sends audit entries to D1 that it did not take before; what it refuses waits. */
  async #drainAudit(): Promise<void> {
    while (this.#deps.now() >= this.#auditRetryAt) {
      const entries = this.#state.auditEntries(OUTBOX_BATCH);
      if (entries.length === 0) return;
      try {
        await this.#deps.saveAudit(entries);
        this.#state.removeAuditEntries(entries);
      } catch (cause) {
        this.#auditRetryAt = this.#deps.now() + STORE_RETRY_MS;
        this.#deps.log("audit_unreachable", describeError(cause));
      }
    }
  }

  #pauseAnswer(before: Pause | null, changed: boolean): PauseAnswer {
    const { pause, running, waiting } = this.#state.queue();
    const runningRunId = running?.run.id ?? null;
    return { pause, before, changed, runningRunId, queued: waiting.length };
  }

  #newRun(source: string | null): NewRun {
    return {
      id: this.#deps.newId(),
      at: this.#at(),
      source: source ?? this.#deps.source,
      workerVersion: this.#deps.workerVersion,
    };
  }

  #at(): string {
    return new Date(this.#deps.now()).toISOString();
  }

  #log(event: string, run: Run, fields: { readonly [name: string]: unknown }): void {
    this.#deps.log(event, { run_id: run.id, trigger: run.trigger, ...fields });
  }
}
