import { DurableObject } from "cloudflare:workers";
import { v7 } from "uuid";
import { INGEST_INSTANCE } from "../instances.ts";
import type { BackupFirst } from "../ingest/coordinator-dependencies.ts";
import { logLine } from "../log.ts";
import { embeddedSnapshot } from "../sources/embedded-snapshot.ts";
import { createBackupStore } from "../storage/backup-store.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { createDatabaseCopy } from "../storage/database-copy.ts";
import { createSourceArchive } from "../storage/source-archive.ts";
import { BackupJobs, type JobResult, type RunRequest } from "./coordinator.ts";
import type { Job } from "./job.ts";
import { JobState } from "./job-state.ts";
import type { RemoveResult } from "./remove-backup.ts";
import type { IngestLink } from "./step-dependencies.ts";
import type { ManifestUpload, UploadResult } from "./upload.ts";

/**
 * The Durable Object that makes, verifies and restores backups: a thin shell, which gives
 * `BackupJobs` its storage, its alarm and its stores, and answers calls with plain data.
 */
export class BackupCoordinator extends DurableObject<Env> {
  readonly #jobs: BackupJobs;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#jobs = new BackupJobs({
      state: new JobState(ctx.storage),
      backups: createBackupStore(env.ARCHIVE),
      database: createDatabaseCopy(env.HISTORY),
      ingest: ingestLink(env),
      catalog: createCatalogStore(env.CATALOG, env.ARCHIVE),
      archive: createSourceArchive(env.ARCHIVE),
      snapshot: embeddedSnapshot,
      workerVersion: env.VERSION.id || null,
      setAlarm: (at) => (at === null ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(at)),
      now: Date.now,
      newId: v7,
      log: (event, fields) => logLine("info", event, event.replaceAll("_", " "), fields),
    });
    void ctx.blockConcurrencyWhile(async () => this.#jobs.recover(await ctx.storage.getAlarm()));
  }

  run(request: RunRequest): Promise<JobResult> {
    return this.#jobs.run(request);
  }

  /** Takes a cron tick: once, however often it fires. */
  tick(cron: string, scheduledAt: number, task: "run" | "verify_newest"): Promise<void> {
    const key = `${cron} ${scheduledAt}`;
    if (task === "verify_newest") return this.#jobs.verifyNewestOnce(key);
    const request = { trigger: "cron", note: null, pin: false, requestedBy: "cron" } as const;
    return this.#jobs.runOnce(key, request);
  }

  backUpFirst(runId: string): Promise<BackupFirst> {
    return this.#jobs.backUpFirst(runId);
  }

  verify(id: string, requestedBy: string): Promise<JobResult> {
    return this.#jobs.verify(id, requestedBy);
  }

  restore(id: string, requestedBy: string): Promise<JobResult> {
    return this.#jobs.restore(id, requestedBy);
  }

  remove(id: string): Promise<RemoveResult> {
    return this.#jobs.remove(id);
  }

  acceptManifest(upload: ManifestUpload): Promise<UploadResult> {
    return this.#jobs.acceptManifest(upload);
  }

  findJob(id: string): Job | null {
    return this.#jobs.findJob(id);
  }

  jobs(limit: number): Job[] {
    return this.#jobs.jobs(limit);
  }

  override alarm(): Promise<void> {
    return this.#jobs.alarm();
  }
}

/** The ingest coordinator over RPC. A stub for each call: one that saw its object reset stays broken. */
function ingestLink(env: Env): IngestLink {
  const ingest = () => env.COORDINATOR.getByName(INGEST_INSTANCE);
  return {
    hold: (request) => ingest().hold(request),
    release: (by) => ingest().release(by),
    takeSnapshot: (by) => ingest().takeSnapshot(by),
    readSnapshot: (from) => ingest().readSnapshot(from),
    forgetTransfer: () => ingest().forgetTransfer(),
    stageState: (from, lines) => ingest().stageState(from, lines),
    replaceState: (by, request) => ingest().replaceState(by, request),
    noteBlobs: (sha256s) => ingest().noteBlobs(sha256s),
    status: () => ingest().status(),
  };
}
