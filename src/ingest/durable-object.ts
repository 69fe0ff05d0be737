import { DurableObject } from "cloudflare:workers";
import { setTimeout as sleep } from "node:timers/promises";
import { v7 } from "uuid";
import { CONTRACT_LIMITS } from "../catalog/contract-limits.ts";
import { type Config, loadConfig } from "../config.ts";
import { ALERTS_INSTANCE, BACKUP_INSTANCE } from "../instances.ts";
import { describeError, logLine } from "../log.ts";
import { droppedUpstream } from "../sources/dropped-upstream.ts";
import { embeddedSnapshot } from "../sources/embedded-snapshot.ts";
import { HTTP_LIMITS, httpUpstream } from "../sources/http-upstream.ts";
import { embeddedUpstream, type Upstream } from "../sources/upstream.ts";
import { type AuditEntry, createAuditStore } from "../storage/audit-store.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { createDropBox } from "../storage/drop-box.ts";
import { createHistory } from "../storage/history.ts";
import { createSourceArchive } from "../storage/source-archive.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { Coordinator } from "./coordinator.ts";
import { CoordinatorState } from "./coordinator-state.ts";
import type { CoordinatorStatus } from "./coordinator-status.ts";
import type { HoldRequest, HoldResult } from "./hold.ts";
import type { PauseRequest } from "./pause.ts";
import { Pipeline } from "./pipeline.ts";
import type { RollbackResult } from "./published-versions.ts";
import type { EnqueueRequest, EnqueueResult } from "./queue.ts";
import type { CancelResult, PauseAnswer } from "./run-control.ts";
import type { ListedRun, Run } from "./run.ts";
import {
  type ImportRequest,
  type ImportResult,
  type SnapshotPage,
  StateTransfer,
} from "./state-transfer.ts";
import type { Version } from "./versions.ts";

/** How long D1 may take for a batch of rows. */
const HISTORY_DEADLINE_MS = 10_000;

/**
 * The Durable Object that ingests: a thin shell, which gives `Coordinator` its storage, its alarm
 * and its stores, and answers calls with plain data.
 */
export class IngestCoordinator extends DurableObject<Env> {
  readonly #coordinator: Coordinator;
  readonly #transfer: StateTransfer;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const config = loadConfig(env, embeddedSnapshot.locales);
    const store = createCatalogStore(env.CATALOG, env.ARCHIVE);
    const archive = createSourceArchive(env.ARCHIVE);
    const history = createHistory(env.HISTORY);
    const state = new CoordinatorState(ctx.storage);
    this.#transfer = new StateTransfer(ctx.storage, state, Date.now);
    const audit = createAuditStore(env.HISTORY);
    this.#coordinator = new Coordinator({
      state,
      pipeline: new Pipeline({
        store,
        archive,
        upstreams: upstreamsOf(config, env.ARCHIVE),
        snapshot: embeddedSnapshot,
        locales: config.locales,
        limits: CONTRACT_LIMITS,
        now: Date.now,
      }),
      store,
      archive,
      saveRuns: (rows) => history.saveRuns(rows.map(({ seq, run }) => ({ ...run, seq }))),
      saveAudit: (entries) => audit.save(entries),
      deleteOldRuns: () =>
        Promise.all([history.deleteOldRuns(Date.now()), audit.deleteOld(Date.now())]),
      historyDeadlineMs: HISTORY_DEADLINE_MS,
      backUpFirst: (runId) => env.BACKUPS.getByName(BACKUP_INSTANCE).backUpFirst(runId),
      setAlarm: (at) => (at === null ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(at)),
      now: Date.now,
      newId: v7,
      log: (level, event, fields) => logLine(level, event, event.replaceAll("_", " "), fields),
      runEnded: ({ id }) => ctx.waitUntil(evaluateAlerts(env.ALERTS, id)),
      source: config.source,
      workerVersion: env.VERSION.id || null,
    });
    void ctx.blockConcurrencyWhile(async () =>
      this.#coordinator.recover(await ctx.storage.getAlarm()),
    );
  }

  enqueue(request: EnqueueRequest): Promise<EnqueueResult> {
    return this.#coordinator.enqueue(request);
  }

  tick(cron: string, scheduledAt: number, request: EnqueueRequest): Promise<void> {
    return this.#coordinator.tick(cron, scheduledAt, request);
  }

  pause(request: PauseRequest, cancelRunning: boolean): Promise<PauseAnswer> {
    return this.#coordinator.pause(request, cancelRunning);
  }

  resume(): Promise<PauseAnswer> {
    return this.#coordinator.resume();
  }

  cancel(id: string, by: string): Promise<CancelResult> {
    return this.#coordinator.cancel(id, by);
  }

  rollback(generation: number): Promise<RollbackResult> {
    return this.#coordinator.rollback(generation);
  }

  findRun(id: string): Run | null {
    return this.#coordinator.findRun(id);
  }

  unsettledRuns(): ListedRun[] {
    return this.#coordinator.unsettledRuns();
  }

  keepAuditEntry(entry: AuditEntry): Promise<void> {
    return this.#coordinator.keepAuditEntry(entry);
  }

  versions(): Version[] {
    return this.#coordinator.versions();
  }

  findVersion(generation: number): Manifest | null {
    return this.#coordinator.findVersion(generation);
  }

  bestCoverage(): { readonly [locale: string]: number } {
    return this.#coordinator.bestCoverage();
  }

  status(): CoordinatorStatus {
    return this.#coordinator.status();
  }

  hold(request: HoldRequest): Promise<HoldResult> {
    return this.#coordinator.hold(request);
  }

  release(by: string): Promise<void> {
    return this.#coordinator.release(by);
  }

  noteBlobs(sha256s: readonly string[]): void {
    this.#coordinator.noteBlobs(sha256s);
  }

  takeSnapshot(by: string): boolean {
    return this.#transfer.take(by);
  }

  readSnapshot(from: number): SnapshotPage {
    return this.#transfer.read(from);
  }

  stageState(from: number, lines: readonly string[]): void {
    this.#transfer.stage(from, lines);
  }

  async replaceState(by: string, request: ImportRequest): Promise<ImportResult> {
    const result = this.#transfer.replace(by, request);
    if (result.ok) await this.#coordinator.stateReplaced();
    return result;
  }

  forgetTransfer(): void {
    this.#transfer.forget();
  }

  override alarm(): Promise<void> {
    return this.#coordinator.alarm();
  }
}

/** Asks for an evaluation of the alerts. What fails there is no fault of the run. */
async function evaluateAlerts(alerts: Env["ALERTS"], runId: string): Promise<void> {
  try {
    const asked = { trigger: "ingest", requestedBy: runId, tick: null } as const;
    await alerts.getByName(ALERTS_INSTANCE).evaluate(asked);
  } catch (error) {
    const fields = { run_id: runId, ...describeError(error) };
    logLine("warn", "alerts_unreachable", "the alerts were not evaluated", fields);
  }
}

/** Every upstream that a run may name. */
function upstreamsOf(config: Config, archive: R2Bucket): { readonly [name: string]: Upstream } {
  const limits = { ...HTTP_LIMITS, maxBytes: config.sourceMaxBytes };
  const upstreams = [
    embeddedUpstream(embeddedSnapshot),
    droppedUpstream(createDropBox(archive), limits),
    httpUpstream({
      urls: config.sourceUrls,
      allowedHosts: config.sourceAllowedHosts,
      limits,
      fetch: async (url, init) => fetch(url, init),
      now: Date.now,
      sleep: async (ms) => sleep(ms),
      random: Math.random,
    }),
  ];
  return Object.fromEntries(upstreams.map((upstream) => [upstream.name, upstream]));
}
