import { randomUUID } from "node:crypto";
import { blobsOf } from "../../src/parts/manifest.ts";
import {
  BackupJobs,
  type JobRequest,
  type JobResult,
  type BackupRequest,
} from "../../src/coordinator/backup-jobs.ts";
import type { BackupJob } from "../../src/schemas/backup-job.ts";
import type { CoordinatorPlatform } from "../../src/coordinator/coordinator-platform.ts";
import { type BackupStore, createBackupStore } from "../../src/storage/backup-store.ts";
import { createDatabaseCopy, type DatabaseCopy } from "../../src/storage/database-copy.ts";
import { createHistory } from "../../src/storage/run-history.ts";
import { createHistoryTables } from "../../src/coordinator/history-tables.ts";
import type { Pipeline, PipelineDependencies } from "../../src/ingest/pipeline.ts";
import { blobKey } from "../../src/storage/keys.ts";
import { CoordinatorWorld, rememberMaps, START } from "./coordinator-world.ts";
import { MemoryBucket } from "./memory-bucket.ts";
import { memoryCatalogStore } from "./memory-catalog-store.ts";
import { MemoryD1, MIGRATIONS } from "./memory-d1.ts";
import type { MemoryTables } from "./memory-tables.ts";

/** A request for a backup by hand, which repeats none. */
export function aBackupRequest(changes: Partial<BackupRequest> = {}): BackupRequest {
  return { trigger: "manual", pin: false, ...byOps(), ...changes };
}

/** An operator who gives no reason, and repeats no request. */
export function byOps(): JobRequest {
  return { requested_by: "ops", note: null, idempotencyKey: randomUUID() };
}

/**
 * An installation in memory: a coordinator with its stores and a database. Clock and alarms pass only
 * on request. `crash` loses what is held in memory.
 */
export class BackupWorld {
  readonly ingest: CoordinatorWorld;
  readonly d1 = MemoryD1.migrated();
  /** Holds the backups. */
  readonly bucket: MemoryBucket;
  readonly store: BackupStore;
  /** Every call to a store that a job makes, such as `put backups/…` or `d1 read`. */
  readonly calls: string[] = [];
  readonly events: { readonly event: string; readonly fields: object }[] = [];
  /** Its errors are those of the called dependency. */
  before: (call: string) => void | Promise<void> = () => {};
  /** The same, once a call that changes something has taken effect: its answer is lost. */
  after: (call: string) => void | Promise<void> = () => {};
  /** Of the present instance. `drain` starts the requested work. */
  jobs!: BackupJobs;
  #instance = 0;

  /** An hour after `other`, with nothing but its backups. */
  constructor(
    other?: BackupWorld,
    locales: readonly string[] = ["de", "en"],
    makePipeline?: (deps: PipelineDependencies) => Pipeline,
  ) {
    let now = () => START;
    this.bucket = new MemoryBucket(other?.bucket, () => now());
    this.store = createBackupStore(this.bucket.binding);
    const history = createHistory(this.d1.binding);
    this.ingest = new CoordinatorWorld({
      locales,
      ...(makePipeline && { makePipeline }),
      saveRuns: (rows) => history.saveRuns(rows),
      changePlatform: (ingest, deps) => this.#changePlatform(ingest, deps),
    });
    now = () => this.ingest.time;
    this.ingest.endLostRuns = (open) => history.endLostRuns(open, this.ingest.time);
    this.ingest.findMissingRuns = (ids) => history.missing(ids);
    if (other !== undefined) this.ingest.time = other.ingest.time + 3_600_000;
  }

  /** Remembers everything that is stored now, as the world of the ingest does. */
  remember(): () => void {
    const { ingest, bucket, d1 } = this;
    const goBackInIngest = ingest.remember();
    const goBackInMaps = rememberMaps([bucket.files, bucket.recorded]);
    d1.database.exec("SAVEPOINT remembered");
    return () => {
      d1.database.exec("ROLLBACK TO remembered");
      goBackInMaps();
      for (const hooked of [this, bucket, d1])
        Object.assign(hooked, { before: () => {}, after: () => {} });
      for (const list of [this.calls, this.events]) list.length = 0;
      this.#instance++;
      goBackInIngest();
    };
  }

  get tables(): MemoryTables {
    return this.ingest.tables;
  }

  /** Loses what the coordinator holds in memory: the process has died. */
  crash(): void {
    this.#instance++;
    this.ingest.crash();
  }

  /** Lets alarms fire at their times until none is set, or until `done`. */
  async drain(done: () => boolean = () => false): Promise<void> {
    const { ingest } = this;
    await ingest.coordinator.recover(ingest.alarmAt);
    await ingest.drain(done);
  }

  /** Makes a backup, waits for its verification, and gives the job with the verdict. */
  async backUp(changes: Partial<BackupRequest> = {}): Promise<BackupJob> {
    const request = aBackupRequest(changes);
    const job = await this.#ended(await this.#asked(() => this.jobs.backUp(request)));
    return { ...job, verdict: this.job(job.chain.at(-1) ?? "").verdict };
  }

  /** Restores a backup; `started` is called between the answer and the first alarm. */
  async restore(id: string, started: () => void = () => {}): Promise<BackupJob> {
    const request = byOps();
    const result = await this.#asked(() => this.jobs.restore(id, request));
    started();
    return this.#ended(result);
  }

  async verify(id: string): Promise<BackupJob> {
    return this.#ended(await this.jobs.verify(id, byOps()));
  }

  /** Asks the coordinator, and again if it dies before it answers, as a client does. */
  async #asked(ask: () => Promise<JobResult>): Promise<JobResult> {
    const { gone } = this.ingest;
    return (await Promise.race([ask(), gone])) ?? this.#asked(ask);
  }

  async #ended(result: JobResult): Promise<BackupJob> {
    if (!result.ok) throw new Error(`not started: ${result.reason}`);
    await this.drain();
    return this.job(result.job.id);
  }

  /** The stage of the running job. */
  get stage(): BackupJob["stage"] | undefined {
    return this.ingest.coordinator.jobs().find(({ state }) => state === "running")?.stage;
  }

  /** The jobs of a request, in order. */
  chainOf({ chain }: BackupJob): BackupJob[] {
    return chain.map((id) => this.job(id));
  }

  job(id: string): BackupJob {
    const job = this.ingest.coordinator.findJob(id);
    if (job === null) throw new Error(`there is no job ${id}`);
    return job;
  }

  /** Blobs that some retained version names. */
  blobs(): string[] {
    const { coordinator, state } = this.ingest;
    const manifests = coordinator
      .versions()
      .flatMap(({ generation }) => state.findRetained(generation) ?? []);
    return [...blobsOf(...manifests)];
  }

  /** Lets both stores of the catalog lose a blob. */
  loseBlob(sha256 = ""): void {
    for (const replica of ["kv", "r2"] as const) this.ingest.store[replica].delete(blobKey(sha256));
  }

  /** Rows of a table of D1. */
  rows(table: string): object[] {
    return this.d1.database.prepare(`SELECT * FROM "${table}" ORDER BY 1`).all();
  }

  /** The served catalog, the coordinator's tables, and D1. */
  async everything() {
    const tables = ["versions", "outgoing", "ticks", "single_values"];
    const state = tables.map((table) => [
      table,
      this.ingest.tables.sql.exec(`SELECT * FROM ${table} ORDER BY 1`).toArray(),
    ]);
    const runs = this.ingest.state.runs();
    return {
      served: await this.ingest.served(),
      state: { ...Object.fromEntries(state), runs },
      history: this.rows("ingest_runs"),
    };
  }

  #changePlatform(ingest: CoordinatorWorld, deps: CoordinatorPlatform): CoordinatorPlatform {
    const instance = this.#instance;
    const enter = (call: string) => this.#enter(instance, call);
    const leave = (call: string) => this.#leave(instance, call);
    const bucket = new MemoryBucket(this.bucket, () => ingest.time);
    bucket.before = enter;
    bucket.after = leave;
    const catalog = memoryCatalogStore(ingest.store, deps.state.claim);
    catalog.before = (call) => enter(`catalog ${call}`);
    catalog.after = (call) => leave(`catalog ${call}`);
    const called = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
      await enter(name);
      const result = await work();
      await leave(name);
      return result;
    };
    const log: CoordinatorPlatform["log"] = (_, event, fields) =>
      void this.events.push({ event, fields });
    const lasting = createHistoryTables({
      d1: this.d1.binding,
      migrations: MIGRATIONS,
      state: deps.state,
      deadlineMs: deps.historyDeadlineMs,
      log,
      now: deps.now,
    });
    const database = createDatabaseCopy(this.d1.binding);
    const tables = () => lasting.make().then(() => database.tables());
    const changed: CoordinatorPlatform = {
      ...deps,
      backups: createBackupStore(bucket.binding),
      database: intercepted({ ...database, tables }, called),
      saveRuns: (rows) => lasting.within(() => deps.saveRuns(rows)),
      endLostRuns: (open) => lasting.make().then(() => deps.endLostRuns(open)),
      findMissingRuns: (ids) => lasting.within(() => deps.findMissingRuns(ids)),
      store: catalog,
      log,
    };
    this.jobs = new BackupJobs(changed);
    return changed;
  }

  async #enter(instance: number, call: string): Promise<void> {
    if (instance === this.#instance) this.calls.push(call);
    await this.#leave(instance, call, this.before);
  }

  async #leave(instance: number, call: string, hook = this.after): Promise<void> {
    if (instance === this.#instance) await hook(call);
    // A lost instance never gets the answers that it was waiting for.
    if (instance !== this.#instance) await new Promise(() => {});
  }
}

type Called = <T>(name: string, work: () => Promise<T>) => Promise<T>;

function intercepted(database: DatabaseCopy, called: Called): DatabaseCopy {
  return {
    tables: () => called("d1 tables", () => database.tables()),
    readPage: (...args) => called("d1 read", () => database.readPage(...args)),
    addRows: (...args) => called("d1 add", () => database.addRows(...args)),
  };
}
