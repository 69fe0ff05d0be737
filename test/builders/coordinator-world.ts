import type { HoldLimits } from "../../src/ingest/accept-sources.ts";
import { DEPLOYED_LIMITS } from "./hold-limits.ts";
import { gzipSync } from "node:zlib";
import { beforeAll, beforeEach } from "vitest";
import type { AirportSet, Manifest } from "../../src/parts/manifest.ts";
import { Coordinator } from "../../src/coordinator/coordinator.ts";
import type { CoordinatorPlatform } from "../../src/coordinator/coordinator-platform.ts";
import { CoordinatorState } from "../../src/coordinator/state.ts";
import { Pipeline, type PipelineDependencies } from "../../src/ingest/pipeline.ts";
import type { HistoryRow } from "../../src/storage/run-history.ts";
import { type QueueAnswer } from "../../src/coordinator/run-queue.ts";
import { type EnqueueRequest, stageOf } from "../../src/coordinator/run-record.ts";
import type { Run } from "../../src/schemas/run.ts";
import type { Stage } from "../../src/schemas/run-words.ts";
import type { LogLevel } from "../../src/platform/log.ts";
import { compressPart } from "../../src/parts/codings.ts";
import { ourAirports } from "../../src/sources/our-airports.ts";
import type { Upstream } from "../../src/sources/upstream.ts";
import type { AuditEntry } from "../../src/storage/audit-store.ts";
import { idAt } from "./an-id.ts";
import { createBackupStore } from "../../src/storage/backup-store.ts";
import { createDatabaseCopy } from "../../src/storage/database-copy.ts";
import type { TableStorage } from "../../src/storage/object-tables.ts";
import { MemoryBucket } from "./memory-bucket.ts";
import { MemoryD1 } from "./memory-d1.ts";
import { memoryCatalogStore, type Replicas } from "./memory-catalog-store.ts";
import { MemoryHistory } from "./memory-history.ts";
import { type MemorySourceArchive, memorySourceArchive } from "./memory-source-archive.ts";
import { MemoryTables } from "./memory-tables.ts";
import { anEnqueueRequest } from "./run.ts";
import { aSnapshot, moreAirports } from "./small-snapshot.ts";
import { csvOf, type Row } from "./source.ts";

/** When the clock starts. */
export const START = Date.parse("2026-11-01T04:17:00.000Z");
/** Airports that upstream has at first: enough that one more is a small change. */
export const AIRPORTS_AT_FIRST = 20;

export interface CoordinatorWorldOptions {
  readonly locales?: readonly string[];
  readonly defaultLocale?: string;
  /** Another installation, whose stores are also those of this one. */
  readonly over?: {
    readonly store: Replicas;
    readonly archive: Pick<MemorySourceArchive, "bucket">;
  };
  /** Makes another than the real pipeline. */
  readonly makePipeline?: (deps: PipelineDependencies) => Pipeline;
  /** Writes rows to a database as well. */
  readonly saveRuns?: (rows: readonly HistoryRow[]) => Promise<void>;
  /** Changes an instance's dependencies. */
  readonly changePlatform?: (
    world: CoordinatorWorld,
    platform: CoordinatorPlatform,
  ) => CoordinatorPlatform;
}

/**
 * A coordinator over SQLite and stores in memory, with a clock and an alarm that move only on
 * request. `crash` loses what it holds in memory and keeps the rest.
 */
export class CoordinatorWorld {
  readonly store;
  readonly archive;
  readonly history = new MemoryHistory();
  /** Audit entries that D1 has, by their ids. */
  readonly audit = new Map<string, AuditEntry>();
  tables = new MemoryTables();
  /** Every call to a dependency, such as `kv put catalog/manifest` or `d1 save`. */
  readonly calls: string[] = [];
  readonly events: { readonly level: LogLevel; readonly event: string; readonly fields: object }[] =
    [];
  /** Rows of D1 that were open when they were looked for, and that no run belonged to. */
  endLostRuns: (open: readonly string[]) => Promise<number> = async () => 0;
  findMissingRuns: (ids: readonly string[]) => Promise<readonly string[]> = async () => [];
  /** Locales to publish, as the next instance is configured. */
  locales: readonly string[];
  /** Locale of a request that names none, as the next instance is configured. */
  defaultLocale: string;
  /** Airports to publish, as the next instance is configured. */
  airportSet: AirportSet = "all";
  holdLimits: HoldLimits = DEPLOYED_LIMITS;
  /** The problem of the next instance's settings. */
  settingsProblem: string | null = null;
  /** The configured upstream. The airports of `embedded` are accepted as they are. */
  source = "embedded";
  /** Milliseconds since 1970. */
  time = START;
  /** When the alarm is set for; null if it is not. */
  alarmAt: number | null = null;
  upstream: Upstream = anUpstream(moreAirports(AIRPORTS_AT_FIRST));
  /** Its errors and delays are those of the called dependency. */
  before: (call: string) => void | Promise<void> = () => {};
  /** The same, once the call has taken effect: its reply is lost. */
  after: (call: string) => void = () => {};
  /** How long D1 may take, by the real clock, for the next instance. */
  historyDeadlineMs = 60_000;
  coordinator: Coordinator;
  /** The tables of the present instance. */
  state = new CoordinatorState(this.tables, { log: () => {}, now: () => this.time });
  snapshot = aSnapshot();
  #instance = 0;
  #ids = 0;
  #gone = Promise.withResolvers<void>();
  readonly #options: CoordinatorWorldOptions;

  constructor(options: CoordinatorWorldOptions = {}) {
    this.locales = options.locales ?? ["en"];
    this.defaultLocale = options.defaultLocale ?? "en";
    this.#options = options;
    this.store = memoryCatalogStore(options.over?.store);
    this.archive = memorySourceArchive(options.over?.archive.bucket);
    this.coordinator = this.#newCoordinator();
  }

  /** Loses the coordinator with its unfinished work. A new one takes its place. */
  crash(): void {
    this.#instance++;
    this.#gone.resolve();
    this.#gone = Promise.withResolvers();
    this.coordinator = this.#newCoordinator();
    void this.coordinator.recover(this.alarmAt);
  }

  /**
   * Remembers everything that is stored now. Returns what goes back to it, with a new coordinator over
   * it: to publish takes much longer. It may go back any number of times.
   */
  remember(): () => void {
    const { store, archive, history, audit, tables } = this;
    const goBackInMaps = rememberMaps([
      ...[store.bucket, archive.bucket].flatMap(({ files, recorded }) => [files, recorded]),
      store.kv,
      history.rows,
      audit,
    ]);
    const arrivals = history.arrivals.length;
    const { time, alarmAt, upstream, source, snapshot } = this;
    const { locales, defaultLocale, airportSet, holdLimits, settingsProblem } = this;
    tables.database.exec("SAVEPOINT remembered");
    return () => {
      tables.database.exec("ROLLBACK TO remembered");
      goBackInMaps();
      history.arrivals.length = arrivals;
      Object.assign(this, { tables, time, alarmAt, upstream, source, snapshot });
      Object.assign(this, { locales, defaultLocale, airportSet, holdLimits, settingsProblem });
      for (const hooked of [this, store, archive.bucket])
        Object.assign(hooked, { before: () => {}, after: () => {} });
      for (const list of [this.calls, this.events, store.calls]) list.length = 0;
      this.crash();
    };
  }

  /** Loses all that the coordinator has recorded: a new one takes its place over the same stores. */
  loseTables(): void {
    this.tables = new MemoryTables();
    this.crash();
  }

  /** Settles when the present coordinator is lost. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Lets the alarm fire, whenever it is set for, until it ends or the coordinator is lost. */
  async alarm(): Promise<void> {
    this.alarmAt = null;
    await Promise.race([this.gone, this.coordinator.alarm()]);
  }

  /** Lets alarms fire at their times until none is set, or until `done`. */
  async drain(done: () => boolean = () => false): Promise<void> {
    for (let alarms = 0; this.alarmAt !== null && !done(); alarms++) {
      if (alarms === 3_000) throw new Error("the alarm is set again and again");
      this.time = Math.max(this.time, this.alarmAt);
      await this.alarm();
    }
  }

  /** Collects garbage twice with a day between, which deletes all garbage. */
  async collect(): Promise<void> {
    for (const hours of [1, 24]) {
      this.time += hours * 3_600_000;
      await this.coordinator.reconcile();
      await this.drain();
    }
  }

  /** A UUIDv7 of the present moment, in ascending order. */
  newId(): string {
    return idAt(this.time, ++this.#ids);
  }

  /** Puts a run in the queue, which must take it. */
  async enqueue(changes: Partial<EnqueueRequest> = {}): Promise<QueueAnswer> {
    const result = await this.coordinator.enqueue(anEnqueueRequest(changes));
    if (!result.ok) throw new Error(`not queued: ${result.reason}`);
    return result.answer;
  }

  /** Queues a run, lets the alarm fire until nothing is due, and gives the run as it is then. */
  async runToEnd(changes: Partial<EnqueueRequest> = {}): Promise<Run> {
    const { run } = await this.enqueue(changes);
    await this.drain();
    return this.run(run.id);
  }

  /** Queues a run, lets it go on until its next step is of a stage, and gives it as it is then. */
  async runUpTo(stage: Stage): Promise<Run> {
    const { run } = await this.enqueue();
    await this.drain(() => this.nextStage(run.id) === stage);
    return this.run(run.id);
  }

  /** The stage of the next step of a run. */
  nextStage(id: string): Stage | undefined {
    const record = this.state.findRun(id);
    return record && stageOf(record);
  }

  /** A run as it is now. */
  run(id: string): Run {
    const run = this.coordinator.findRun(id);
    if (run === null) throw new Error(`there is no run ${id}`);
    return run;
  }

  /** Lets upstream have so many airports from now on. */
  setAirports(count: number): void {
    this.upstream = anUpstream(moreAirports(count));
  }

  /** Lets one airport have another name from now on: a change that no guard minds. */
  renameAirport(name: string): void {
    const [first = {}, ...others] = moreAirports(AIRPORTS_AT_FIRST);
    this.upstream = anUpstream([{ ...first, name }, ...others]);
  }

  /** Publishes so many versions, each with another content. */
  async publishVersions(count: number): Promise<void> {
    for (let more = 1; more <= count; more++) {
      this.renameAirport(`Airport ${(this.current()?.generation ?? 0) + 1}`);
      const { outcome } = await this.runToEnd();
      if (outcome !== "published") throw new Error(`the run was ${outcome}`);
    }
  }

  /** The version that the coordinator has recorded last. */
  current(): Manifest | null {
    const { current } = this.coordinator.status();
    return current && (this.state.findRetained(current.generation) ?? null);
  }

  /** The manifest that is served; null if there is none. */
  async served(): Promise<Manifest | null> {
    const copy = await this.store.readManifest("kv");
    return copy.ok ? copy.value : null;
  }

  /** Calls with this prefix. */
  callsOf(prefix: string): string[] {
    return this.calls.filter((call) => call.startsWith(prefix));
  }

  #newCoordinator(): Coordinator {
    const instance = this.#instance;
    const enter = (call: string) => this.#enter(instance, call);
    const log: CoordinatorPlatform["log"] = (level, event, fields) =>
      void this.events.push({ level, event, fields });
    const tables = whileAlive(this.tables, () => instance === this.#instance);
    const state = (this.state = new CoordinatorState(tables, { log, now: () => this.time }));
    const store = memoryCatalogStore(this.store, state.claim);
    store.before = enter;
    const archive = memorySourceArchive(this.archive.bucket);
    archive.bucket.before = (call) => enter(`archive ${call}`);
    const upstream: Upstream = {
      reader: ourAirports,
      fetch: async (archived) => {
        await enter("upstream fetch");
        return this.upstream.fetch(archived);
      },
    };
    const platform: CoordinatorPlatform = {
      state,
      pipeline: this.#newPipeline({
        store,
        archive,
        upstreams: { embedded: upstream, other: upstream, third: upstream },
        snapshot: this.snapshot,
        locales: this.locales,
        defaultLocale: this.defaultLocale,
        airportSet: this.airportSet,
        holdLimits: this.holdLimits,
        effort: "fast",
        compress: async (task) => {
          await enter("compress");
          return compressPart(task);
        },
        now: () => this.time,
      }),
      store,
      archive,
      backups: createBackupStore(new MemoryBucket(undefined, () => this.time).binding),
      database: createDatabaseCopy(new MemoryD1().binding),
      saveRuns: async (rows) => {
        await enter("d1 save");
        this.history.save(rows);
        await this.#options.saveRuns?.(rows);
        this.after("d1 save");
      },
      saveAudit: async (entries) => {
        await enter("d1 audit");
        for (const entry of entries) this.audit.set(entry.id, entry);
        this.after("d1 audit");
      },
      endLostRuns: async (open) => {
        await enter("d1 look");
        return this.endLostRuns(open);
      },
      findMissingRuns: async (ids) => {
        await enter("d1 look");
        return this.findMissingRuns(ids);
      },
      deleteOldRuns: async () => enter("d1 delete"),
      historyDeadlineMs: this.historyDeadlineMs,
      setAlarm: async (at) => {
        if (at !== null) refuseAlarm(at);
        if (instance === this.#instance) this.alarmAt = at;
      },
      restart: () => {
        if (instance === this.#instance) this.crash();
        throw new Error("the instance was ended");
      },
      now: () => this.time,
      newId: () => this.newId(),
      localeSettings: { locales: this.locales, defaultLocale: this.defaultLocale },
      log,
      settingsProblem: this.settingsProblem,
      source: this.source,
      workerVersion: "v1",
    };
    return new Coordinator(this.#options.changePlatform?.(this, platform) ?? platform);
  }

  #newPipeline(deps: PipelineDependencies): Pipeline {
    return this.#options.makePipeline?.(deps) ?? new Pipeline(deps);
  }

  async #enter(instance: number, call: string): Promise<void> {
    if (instance === this.#instance) {
      this.calls.push(call);
      await this.before(call);
    }
    // A lost instance never gets the answers that it was waiting for.
    if (instance !== this.#instance) await new Promise(() => {});
  }
}

/** Remembers the entries of maps. Returns what goes back to them. */
export function rememberMaps(maps: readonly Map<string, unknown>[]): () => void {
  const entries = maps.map((map) => [...map]);
  return () => {
    for (const [index, map] of maps.entries()) {
      map.clear();
      for (const [key, value] of entries[index] ?? []) map.set(key, value);
    }
  };
}

/** Starts each test of a file or block from a copy of the world that `make` has made once. */
export function startEachFrom(
  world: { remember(): () => void },
  make: () => Promise<unknown>,
): void {
  let goBack = () => {};
  beforeAll(async () => {
    await make();
    goBack = world.remember();
  });
  beforeEach(() => goBack());
}

/** Throws for a time that the platform refuses. */
function refuseAlarm(at: number): void {
  if (!(at > 0)) throw new TypeError("setAlarm() cannot be called with an alarm time <= 0");
  if (at >= Date.UTC(2189, 0)) throw new TypeError("This API doesn't support dates after 2189.");
}

/**
 * The tables as an instance has them: they throw once it is lost, as on the platform. Its calls may
 * time out then, and what it does about that must change nothing.
 */
function whileAlive(tables: TableStorage, isAlive: () => boolean): TableStorage {
  const check = () => {
    if (!isAlive()) throw new Error("the instance is lost");
  };
  return {
    sql: {
      exec: (query, ...bindings) => {
        check();
        return tables.sql.exec(query, ...bindings);
      },
    },
    transactionSync: (work) => {
      check();
      return tables.transactionSync(work);
    },
  };
}

/** An upstream that gives an airports.csv of these rows. */
export function anUpstream(rows: readonly Row[]): Upstream {
  return {
    reader: ourAirports,
    fetch: async () => [
      { name: "airports.csv.gz", bytes: gzipSync(csvOf(rows)) },
      { name: "regions.csv.gz", bytes: gzipSync("code,name\nCH-ZH,Zürich\n") },
    ],
  };
}
