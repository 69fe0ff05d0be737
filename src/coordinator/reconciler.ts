import { heal, replicate } from "../ingest/publisher.ts";
import { isRun } from "../ingest/run-record.ts";
import { describeError } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import type { CoordinatorDependencies } from "./dependencies.ts";

/** After a store refused, how long to leave it alone. */
const STORE_RETRY_MS = 30_000;

type ReconcilerDependencies = Pick<
  CoordinatorDependencies,
  "state" | "store" | "endLostRuns" | "historyDeadlineMs" | "now" | "log"
>;

/** Brings the stores and D1 to what the coordinator has recorded. */
export class Reconciler {
  readonly #deps: ReconcilerDependencies;
  /** Not before this time are the stores tried again. */
  #retryAt = 0;

  constructor(deps: ReconcilerDependencies) {
    this.#deps = deps;
  }

  /** To be called when another version is to be shown: it is due at once. */
  versionsChanged(): void {
    this.#retryAt = 0;
  }

  /** When the stores are to be tried next (ms since 1970); null if they show the current version. */
  dueAt(): number | null {
    if (!this.#mayReplicate()) return null;
    return Math.min(this.#retryAt, this.#deps.now() + STORE_RETRY_MS);
  }

  /** Brings the stores to the version that was recorded last. Never throws. */
  async replicate(): Promise<void> {
    const { state, store, now } = this.#deps;
    const manifest = state.unreplicated();
    const dueAt = this.dueAt();
    if (manifest === null || dueAt === null || now() < dueAt) return;
    try {
      await replicate(store, manifest);
      state.setReplicated(manifest.generation);
    } catch (cause) {
      this.#refused(manifest.generation, cause);
    }
  }

  /**
   * Looks whether the stores still show the current version, and whether D1 shows runs as open that
   * are not; mends both. A manifest that a store writes late, after a newer one, is replaced so.
   * Never throws.
   */
  async reconcile(): Promise<void> {
    await this.#heal();
    await this.#endLostRuns();
  }

  async #heal(): Promise<void> {
    const { state, store, log } = this.#deps;
    const current = state.currentVersion();
    if (current === null || state.unreplicated() !== null) return;
    const { generation } = current;
    try {
      if (await heal(store, current)) log("warn", "manifest_replaced", { generation });
    } catch (cause) {
      this.#refused(generation, cause);
    }
  }

  /** What waits for D1 is to be written first: it may be the end of a run. */
  async #endLostRuns(): Promise<void> {
    const { state, endLostRuns, historyDeadlineMs, log } = this.#deps;
    if (state.history.length > 0) return;
    const open = state.jobs.open().map(({ job }) => job.id);
    try {
      const runs = await withDeadline("D1", historyDeadlineMs, endLostRuns(open));
      if (runs > 0) log("warn", "lost_runs_ended", { runs });
    } catch (cause) {
      log("warn", "history_unreachable", describeError(cause));
    }
  }

  #refused(generation: number, cause: unknown): void {
    this.#retryAt = this.#deps.now() + STORE_RETRY_MS;
    this.#deps.log("warn", "replication_failed", { generation, ...describeError(cause) });
  }

  /** A run that verifies brings the stores to the version itself. */
  #mayReplicate(): boolean {
    const { state } = this.#deps;
    const isVerifying = state.queue().running.some((record) => isRun(record) && record.isCommitted);
    return state.unreplicated() !== null && !isVerifying;
  }
}
