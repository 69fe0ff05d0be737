import { settledWithin } from "../platform/deadline.ts";
import { alarmTime } from "../storage/alarm.ts";
import { timeText } from "../platform/time.ts";
import { WorkLimit } from "../platform/work-limit.ts";
import {
  BackupJobs,
  isBackup,
  type JobRequest,
  type JobResult,
  type RemoveResult,
  type BackupRequest,
} from "./backup-jobs.ts";
import { BACKUP, type BackupJob } from "../schemas/backup-job.ts";
import { BackupWork } from "./backup-work.ts";
import type { Decision } from "../acceptance/decisions.ts";
import type { CoordinatorState } from "./state.ts";
import { areArchived } from "../ingest/fetch-sources.ts";
import { IngestWork } from "./ingest-work.ts";
import { describeQueue, type EnqueueResult, type QueuedRun } from "./run-queue.ts";
import { type EnqueueRequest, INGEST, isRun } from "./run-record.ts";
import type { CronJobName } from "./schedule.ts";
import type { Version } from "../schemas/version.ts";
import { describeVersion } from "./versions.ts";
import { hasLostBlobs } from "../storage/lost-blobs.ts";
import { rollBack, type RollbackResult } from "./publishing.ts";
import { takeOver, type TakeoverResult } from "./take-over.ts";
import { type ListedRun, type Run, toListed } from "../schemas/run.ts";
import { Engine, WATCHDOG_MS } from "./engine.ts";
import type { PauseRequest } from "../schemas/pause.ts";
import type { SetAside } from "../storage/object-tables.ts";
import { describeError } from "../platform/log.ts";
import type { EpochMs } from "../platform/units.ts";
import { nextAlarm } from "./jobs.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { Reconciler } from "./reconciler.ts";
import {
  type CancelRequest,
  type CancelResult,
  type PauseAnswer,
  IngestRuns,
} from "./ingest-runs.ts";
import { type CoordinatorStatus, describeStatus } from "./status.ts";

/**
 * Longest wait until the stores show the version that an operator has published. The caller waits
 * little longer.
 */
const SHOWN_WITHIN_MS = 10_000;

/**
 * Ingests, makes backups and collects garbage, in a Durable Object. Pure rules over its tables
 * make the decisions. The alarm does the work, one bounded step at a time: it sets the next alarm
 * as a watchdog, takes a step, replicates and empties the outboxes.
 *
 * Recording a version publishes it. The coordinator then repeats the replication to the stores
 * until it succeeds, even during a pause.
 */
export class Coordinator {
  readonly #platform: CoordinatorPlatform;
  readonly #state: CoordinatorState;
  readonly #engine: Engine;
  readonly #runs: IngestRuns;
  readonly #backupJobs: BackupJobs;
  readonly #reconciler: Reconciler;
  readonly #workLimit: WorkLimit;
  #isReconcileDue = false;

  constructor(platform: CoordinatorPlatform) {
    this.#platform = platform;
    this.#state = platform.state;
    this.#backupJobs = new BackupJobs(platform);
    this.#reconciler = new Reconciler(platform, (request) => void this.#runs.enqueue(request));
    this.#engine = new Engine(platform, {
      [INGEST]: new IngestWork(platform),
      [BACKUP]: new BackupWork(platform),
    });
    this.#runs = new IngestRuns(platform);
    this.#workLimit = new WorkLimit(platform);
  }

  /** Queues a run, unless an equivalent one waits or its candidate is no longer archived. Throws StoreError. */
  async enqueue(request: EnqueueRequest): Promise<EnqueueResult> {
    const { candidate } = request;
    if (candidate !== null && !(await areArchived(this.#platform.archive, candidate.upstream)))
      return { ok: false, reason: "candidate_gone" };
    return this.#thenRearm(() => this.#runs.enqueue(request));
  }

  /** Accepts a cron tick. A repeated tick has no effect. */
  tick(cron: string, scheduledAt: EpochMs, request: EnqueueRequest): Promise<void> {
    return this.#thenRearm(() => this.#runs.tick(cron, scheduledAt, request));
  }

  /** Holds ingest runs at their next step, except one that has recorded its version. */
  pause(request: PauseRequest, cancelRunning: boolean): Promise<PauseAnswer> {
    return this.#thenRearm(() => this.#runs.pause(request, cancelRunning));
  }

  /** Lifts the pause. Waiting runs continue; skipped ticks stay skipped. */
  resume(): Promise<PauseAnswer> {
    return this.#thenRearm(() => this.#runs.resume());
  }

  /**
   * Cancels a run: at once if it is queued, else at the next step boundary before it publishes.
   *
   * @param at now, by the caller's clock, as for `reconcile`.
   */
  async cancel(
    id: string,
    request: CancelRequest,
    at = this.#platform.now(),
  ): Promise<CancelResult> {
    this.#workLimit.check(at);
    return this.#thenRearm(() => this.#runs.cancel(id, request));
  }

  /** Publishes a retained version again, if `expected` is current and the stores have its blobs. */
  rollback(generation: number, expected?: number): Promise<RollbackResult> {
    return this.#thenRearm(async () => {
      await this.#platform.store.checkOwner().catch(() => undefined); // what it finds is recorded
      const detail = this.#state.values.get("foreign");
      if (detail !== null) return { ok: false, reason: "foreign_stores", detail };
      const earlier = this.#state.findRetained(generation);
      if (earlier !== undefined && (await hasLostBlobs(this.#platform.store, earlier)))
        return { ok: false, reason: "blobs_lost" };
      const at = timeText(this.#platform.now());
      const result = rollBack(this.#state, { generation, expected, at });
      return result.ok ? this.#onceShown(result) : result;
    });
  }

  /** Takes over another installation's stores, and pauses ingestion. Throws StoreError if a store fails. */
  takeOver(by: string): Promise<TakeoverResult> {
    return this.#thenRearm(async () => {
      const at = timeText(this.#platform.now());
      const result = await takeOver(this.#platform, { at, by });
      return result.ok ? this.#onceShown(result) : result;
    });
  }

  /**
   * Replicates the current version, unless a job does so. The alarm repeats it until the stores show
   * the version.
   */
  async #onceShown<T>(published: T) {
    const { running } = this.#state.queue();
    const isBusy = this.#workLimit.isWorking && running.some(({ isCommitted }) => isCommitted);
    const shown = isBusy ? Promise.resolve() : this.#reconciler.replicateNow();
    await settledWithin(SHOWN_WITHIN_MS, shown, () => undefined);
    // Another installation may have published at the same moment.
    const foreign = this.#state.values.get("foreign");
    if (foreign !== null) return { ok: false, reason: "foreign_stores", detail: foreign } as const;
    const manifest = this.#state.unreplicated();
    if (manifest === null) return published;
    const detail = `Version ${manifest.generation} is published, but KV or R2 does not show it yet. The coordinator writes it again every half minute; repeat the request to see. The alert replication_stuck says more.`;
    return { ok: false, reason: "not_shown", detail, published } as const;
  }

  /** Queues a backup, unless the request is a repetition or the stores are foreign. */
  backUp(request: BackupRequest): Promise<JobResult> {
    return this.#thenRearm(() => this.#backupJobs.backUp(request));
  }

  /** Accepts a cron tick for a backup job. A repeated tick has no effect. */
  tickJob(
    cron: string,
    scheduledAt: EpochMs,
    task: Exclude<CronJobName, "ingest" | "watch">,
  ): Promise<void> {
    const tick = `${cron} ${scheduledAt}`;
    return this.#thenRearm(() =>
      task === "back_up"
        ? this.#backupJobs.backUpOnce(tick)
        : this.#backupJobs.verifyNewestOnce(tick),
    );
  }

  verifyBackup(id: string, request: JobRequest): Promise<JobResult> {
    return this.#thenRearm(() => this.#backupJobs.verify(id, request));
  }

  restoreBackup(id: string, request: JobRequest): Promise<JobResult> {
    return this.#thenRearm(() => this.#backupJobs.restore(id, request));
  }

  /** Deletes a backup, unless it is protected. */
  removeBackup(id: string): Promise<RemoveResult> {
    return this.#backupJobs.remove(id);
  }

  findJob(id: string): BackupJob | null {
    const record = this.#state.jobs.find(BACKUP, id);
    return record !== undefined && isBackup(record) ? record.job : null;
  }

  jobs(limit?: number): BackupJob[] {
    const records = this.#state.jobs.newest(BACKUP, limit).filter(isBackup);
    return records.map(({ job }) => job);
  }

  findRun(id: string): Run | null {
    return this.#state.findRun(id)?.job ?? null;
  }

  /** Lists runs that D1 may lack or show in an older state: open ones, and those in the outbox. */
  unwrittenRuns(): ListedRun[] {
    const unwritten = this.#state.history.rows().map(({ value }) => value);
    const open = this.#state.jobs.open().filter(isRun);
    const runs = [...unwritten, ...open.map(({ job }) => job)];
    return [...new Map(runs.map((run) => [run.id, toListed(run)])).values()];
  }

  /** Whether a request may use its Idempotency-Key, because no other request has. */
  claimKey(key: string, fingerprint: string): boolean {
    return this.#state.transaction(() => this.#state.claimKey(key, fingerprint));
  }

  /** Stores an audit entry until D1 accepts it. */
  keepAuditEntry(entry: AuditEntry): Promise<void> {
    return this.#thenRearm(() => this.#state.audit.add(entry, entry.id));
  }

  /** Lists the retained versions, newest first. */
  versions(): Version[] {
    const versions = this.#state.versions();
    return versions.map((version) => describeVersion(version, versions));
  }

  /** The ledger that upstream is compared with, and the decisions that no run has applied yet. */
  ledger() {
    return { files: this.#state.ledgerFiles(), decisions: this.#state.decisions.list() };
  }

  /** Records operators' decisions about held changes. The next run applies them. */
  decide(decisions: readonly Decision[]): void {
    this.#state.decisions.add(decisions);
  }

  queue(): QueuedRun[] {
    return describeQueue(this.#state.queue(), this.#platform.now());
  }

  status(): CoordinatorStatus {
    return describeStatus(this.#platform);
  }

  setAside(): SetAside[] {
    return this.#state.tables.setAside();
  }

  forgetSetAside(): SetAside[] {
    return this.#state.tables.forgetSetAside();
  }

  /**
   * Makes the next alarm compare the stores and D1 with the tables, and collect garbage. Ends this
   * instance if the previous alarm has taken too long by the caller's clock.
   */
  async reconcile(at = this.#platform.now()): Promise<void> {
    this.#workLimit.check(at);
    this.#isReconcileDue = true;
    await this.#rearm();
  }

  /** Does all due work and sets the next alarm. */
  alarm(): Promise<void> {
    return this.#workLimit.within(() => this.#work());
  }

  async #work(): Promise<void> {
    await this.#setAlarm(this.#platform.now() + WATCHDOG_MS);
    await this.#engine.takeNext();
    await this.#reconciler.replicate();
    await this.#drainOutboxes();
    if (this.#isReconcileDue) {
      this.#isReconcileDue = false;
      await this.#reconciler.reconcile();
    }
    await this.#rearm();
  }

  /**
   * Recovers after a crash. Call it once for each new instance. Work that died with the previous
   * instance is due at once and need not wait for the watchdog at `alarmAt`. Never throws, because an
   * object that does not open answers no call. The next call sets the alarm.
   */
  async recover(alarmAt: EpochMs | null): Promise<void> {
    try {
      const dueAt = this.#dueAt();
      if (dueAt !== null && dueAt < (alarmAt ?? Infinity)) await this.#setAlarm(dueAt);
    } catch (cause) {
      this.#platform.log("error", "recovery_failed", describeError(cause));
    }
  }

  async #drainOutboxes(): Promise<void> {
    const { saveRuns, saveAudit, deleteOldRuns, historyDeadlineMs, now, log } = this.#platform;
    const delivery = { deadlineMs: historyDeadlineMs, now, log };
    await this.#state.history.drain({
      ...delivery,
      send: (rows) => saveRuns(rows.map(({ seq, value }) => ({ seq, run: value }))),
      sent: async (rows) => {
        if (rows.some(({ value }) => value.state === "succeeded")) await deleteOldRuns();
      },
    });
    await this.#state.audit.drain({
      ...delivery,
      send: (rows) => saveAudit(rows.map(({ value }) => value)),
    });
  }

  async #thenRearm<T>(change: () => T | Promise<T>): Promise<T> {
    const result = await change();
    await this.#rearm();
    return result;
  }

  #rearm(): Promise<void> {
    return this.#setAlarm(this.#dueAt());
  }

  /** The only way to the platform's alarm; null deletes it. */
  #setAlarm(at: EpochMs | null): Promise<void> {
    const { setAlarm, now } = this.#platform;
    return setAlarm(at === null ? null : alarmTime(at, now()));
  }

  /** Time of the next due work; null if there is none. */
  #dueAt(): EpochMs | null {
    const now = this.#platform.now();
    const others = [
      this.#state.history.dueAt(now),
      this.#state.audit.dueAt(now),
      this.#reconciler.dueAt(),
      this.#isReconcileDue ? now : null,
    ];
    return nextAlarm(this.#state.queue(), { now, others });
  }
}
