import {
  adoptVersions,
  logUnusable,
  recordVersion,
  repairCopies,
  replicatePublished,
} from "./publishing.ts";
import type { Manifest } from "../parts/manifest.ts";
import { ForeignStores } from "../storage/ownership.ts";
import { type EnqueueRequest, plainRun } from "./run-record.ts";
import { isOpen } from "./jobs.ts";
import { describeError } from "../platform/log.ts";
import { withDeadline } from "../platform/deadline.ts";
import { isRecent, timeText } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { collectGarbage } from "./garbage.ts";

const STORE_RETRY_MS = 30_000;

/** Wait after a first ingest with a fault that no retry fixes. */
const FIRST_INGEST_INTERVAL_MS = 15 * 60 * 1000;

/** The first run of a service, which starts without an operator. */
const FIRST_INGEST: EnqueueRequest = {
  ...plainRun({ trigger: "cron", requested_by: "cron", note: "nothing is published yet" }),
  ifPaused: "reject",
};

/** Makes the stores and D1 match the coordinator's tables. */
export class Reconciler {
  readonly #platform: CoordinatorPlatform;
  readonly #enqueue: (request: EnqueueRequest) => void;
  /** Time of the last failed attempt; 0 if the next is due. */
  #failedAt = 0;

  /** @param enqueue queues the first ingest. */
  constructor(platform: CoordinatorPlatform, enqueue: (request: EnqueueRequest) => void) {
    this.#platform = platform;
    this.#enqueue = enqueue;
  }

  /** Time of the next replication; null if none is due. */
  dueAt(): EpochMs | null {
    if (!this.#mayReplicate()) return null;
    const now = this.#platform.now();
    return isRecent(this.#failedAt, STORE_RETRY_MS, now) ? this.#failedAt + STORE_RETRY_MS : now;
  }

  /** Replicates the current version, if that is due. Never throws. */
  async replicate(): Promise<void> {
    const dueAt = this.dueAt();
    if (dueAt !== null && this.#platform.now() >= dueAt) await this.replicateNow();
  }

  /** Replicates the current version, even if a job would. Never throws. */
  async replicateNow(): Promise<void> {
    const manifest = this.#platform.state.unreplicated();
    if (manifest === null) return;
    try {
      await replicatePublished(this.#platform, manifest.generation);
    } catch (cause) {
      this.#retryLater(manifest.generation, cause);
    }
  }

  /**
   * Repairs the stores if they do not show the current version, for example after a late write of an
   * older manifest. Queues an ingest while nothing is published. Ends lost runs in D1, and collects
   * garbage. Does nothing unless this installation owns the stores. Never throws.
   */
  async reconcile(): Promise<void> {
    if (!(await this.#isOwner())) return;
    await this.#repairCopies();
    await this.#orWarn("history_unreachable", () => this.#compareHistory());
    await this.#orWarn("garbage_left", async () => {
      const deleted = await collectGarbage(this.#platform);
      if (deleted !== null) this.#platform.log("info", "garbage_collected", { deleted });
    });
  }

  /** Another installation with these stores may also share D1. */
  async #isOwner(): Promise<boolean> {
    const { store, log } = this.#platform;
    try {
      await store.checkOwner();
      return true;
    } catch (cause) {
      if (cause instanceof ForeignStores) log("error", "foreign_stores", describeError(cause));
      else log("warn", "owner_unknown", describeError(cause));
      return false;
    }
  }

  async #repairCopies(): Promise<void> {
    const { state, store, log } = this.#platform;
    await this.#orWarn("adoption_failed", async () => {
      const unusable = await adoptVersions(state, store);
      logUnusable(log, unusable);
      if (this.#isFirstIngestDue()) this.#enqueue(FIRST_INGEST);
    });
    const current = state.currentVersion();
    if (current === null || state.unreplicated() !== null) return;
    const { generation } = current;
    try {
      const { unknown, isRepaired } = await repairCopies(store, current);
      if (unknown !== null) this.#publishAbove(unknown, current);
      if (isRepaired) log("warn", "manifest_replaced", { generation });
    } catch (cause) {
      this.#retryLater(generation, cause);
    }
  }

  /** Publishes the content again above an unknown version, which readers may already have. */
  #publishAbove(unknown: number, current: Manifest): void {
    const { state, now, log } = this.#platform;
    state.transaction(() => {
      if (state.currentVersion()?.generation !== current.generation) return;
      recordVersion(state, current, { at: timeText(now()), above: unknown });
    });
    log("error", "unknown_version_replaced", { unknown, generation: unknown + 1 });
  }

  /** Whether nothing is published or in progress, nobody has cancelled it, and the source wants no wait. */
  #isFirstIngestDue(): boolean {
    const { state, source, now } = this.#platform;
    if (state.currentVersion() !== null) return false;
    const last = state.runs().find((run) => run.state !== "skipped" && run.mode !== "dry_run");
    if (last?.state !== "failed") return last === undefined || last.state === "succeeded";
    if ((state.values.get(`retry_at:${source}`) ?? 0) > now()) return false;
    // Only a transient fault leads to a quick second attempt.
    const waitMs = last.attempt > 1 ? 0 : FIRST_INGEST_INTERVAL_MS;
    return !isRecent(Date.parse(last.finished_at ?? last.queued_at), waitMs, now());
  }

  /** Ends unknown runs in D1, and rewrites runs that D1 has lost, once the outbox is empty. */
  async #compareHistory(): Promise<void> {
    const { state, endLostRuns, findMissingRuns, historyDeadlineMs, now, log } = this.#platform;
    if (state.history.length > 0) return;
    const open = state.jobs.open().map(({ job }) => job.id);
    const ended = state.runs().filter((run) => !isOpen(run.state));
    const ids = ended.map(({ id }) => id);
    const runs = await withDeadline("D1", historyDeadlineMs, endLostRuns(open));
    if (runs > 0) log("warn", "lost_runs_ended", { runs });
    const missing = new Set(await withDeadline("D1", historyDeadlineMs, findMissingRuns(ids)));
    if (missing.size === 0) return;
    state.transaction(() => {
      // A restored history lacks only the newest runs.
      if (missing.has(ids.at(-1) ?? "")) state.setHistoryLost(timeText(now()));
      for (const run of ended.filter(({ id }) => missing.has(id))) state.history.add(run);
    });
    log("error", "history_rows_lost", { runs: missing.size });
  }

  /** Logs a failure. The next reconciliation continues. */
  async #orWarn(event: string, work: () => Promise<void>): Promise<void> {
    await work().catch((cause: unknown) => this.#platform.log("warn", event, describeError(cause)));
  }

  #retryLater(generation: number, cause: unknown): void {
    this.#failedAt = this.#platform.now();
    this.#platform.log("warn", "replication_failed", { generation, ...describeError(cause) });
  }

  /** A job replicates the version that it has recorded. */
  #mayReplicate(): boolean {
    const { state } = this.#platform;
    if (state.unreplicated() === null || state.values.get("foreign") !== null) return false;
    return !state.queue().running.some(({ isCommitted }) => isCommitted);
  }
}
