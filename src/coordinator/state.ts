import { type LedgerFiles, ledgerOf } from "../ingest/ledger-files.ts";
import type { SavedLedger } from "../backup/state-part.ts";
import type { Manifest } from "../parts/manifest.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { Claim } from "../storage/ownership.ts";
import type { Log } from "../platform/log.ts";
import { ObjectTables, type TableStorage } from "../storage/object-tables.ts";
import { JsonTable, migrate, TickTable } from "../storage/object-tables.ts";
import { Outbox } from "../storage/outbox.ts";
import { timeText } from "../platform/time.ts";
import type { EpochMs, Instant, Sha256Hex } from "../platform/units.ts";
import { hasEnded, type Pause } from "../schemas/pause.ts";
import { type Cancellation, isOpen, type JobRecord, type Queue, queueOf } from "./jobs.ts";
import { candidateFiles, INGEST, isRun, type RunRecord } from "./run-record.ts";
import { type Run, runDetailsSchema } from "../schemas/run.ts";
import { auditEntrySchema, type CoordinatorValues, schemaOfValue } from "./tables.ts";
import {
  COORDINATOR_SCHEMA,
  DecisionTable,
  GarbageTable,
  JobTable,
  VersionTable,
} from "./tables.ts";
import { retainedVersions } from "./versions.ts";

/** Retained number of keys, which outlive the jobs that they started. */
const KEYS_KEPT = 300;

/** The coordinator's tables. Every method is synchronous; callers group them in `transaction`. */
export class CoordinatorState {
  readonly jobs: JobTable;
  /** Runs for D1, one row for each visible change. */
  readonly history: Outbox<Run>;
  /** Audit entries that D1 has not accepted yet. */
  readonly audit: Outbox<AuditEntry>;
  readonly ticks: TickTable;
  readonly decisions: DecisionTable;
  readonly garbage: GarbageTable;
  readonly #versions: VersionTable;
  readonly values: JsonTable<CoordinatorValues>;
  readonly tables: ObjectTables;
  readonly #now: () => EpochMs;

  /** Throws OtherVersion if another version of this service made the tables. */
  constructor(
    storage: TableStorage,
    { log, now }: { readonly log: Log; readonly now: () => EpochMs },
  ) {
    migrate(storage, "coordinator", COORDINATOR_SCHEMA);
    const tables = new ObjectTables(storage, { log, now });
    this.tables = tables;
    this.#now = now;
    this.jobs = new JobTable(tables);
    this.history = new Outbox(tables, { name: "history", schema: runDetailsSchema });
    this.audit = new Outbox(tables, { name: "audit", schema: auditEntrySchema });
    this.ticks = new TickTable(tables);
    this.decisions = new DecisionTable(tables);
    this.values = new JsonTable(tables, "single_values", schemaOfValue);
    this.#versions = new VersionTable(tables);
    this.garbage = new GarbageTable(tables);
  }

  transaction<T>(work: () => T): T {
    return this.tables.transactionSync(work);
  }

  queue(): Queue {
    return queueOf(this.jobs.open(), this.pause());
  }

  /** The end times of runs and publications, by clocks that may have been wrong. */
  recordedTimes(): EpochMs[] {
    const ends = this.runs().flatMap(({ finished_at }) => finished_at ?? []);
    const published = this.currentVersion()?.published_at ?? [];
    return [ends, published].flat().map((time) => Date.parse(time));
  }

  findRun(id: string): RunRecord | undefined {
    const record = this.jobs.find(INGEST, id);
    return record !== undefined && isRun(record) ? record : undefined;
  }

  /** Lists the retained runs: unfinished ones, then the ended, the last to end first. */
  runs(): Run[] {
    const records = [...this.jobs.open().toReversed(), ...this.jobs.ended(INGEST)];
    return records.filter(isRun).map(({ job }) => job);
  }

  /** Saves a job. Adds a run to the outbox for D1 after a visible change. */
  save(record: JobRecord): void {
    const before = this.findRun(record.job.id)?.job;
    this.jobs.save(record);
    if (!isRun(record)) return;
    const { state, stage, skip_count } = record.job;
    const isSame =
      before?.state === state && before.stage === stage && before.skip_count === skip_count;
    if (!isSame) this.history.add(record.job);
  }

  /** Cancels the run in progress that a pause holds. Its next step ends it. */
  cancelPausedRun(cancellation: Cancellation): void {
    for (const { job, ...record } of this.queue().running.filter(isRun))
      this.save({ ...record, job: { ...job, cancellation } });
  }

  /** The pause. Lifts one past its end, as the alarm may be late. An unreadable one has no end. */
  pause(): Pause | null {
    const now = this.#now();
    const lost = { at: timeText(now), by: "coordinator", note: LOST_PAUSE, until: null };
    const pause = this.values.get("pause", () => lost);
    if (pause === null || !hasEnded(pause, now)) return pause;
    this.liftPause();
    return null;
  }

  setPause(pause: Pause | null): void {
    this.values.set("pause", pause);
  }

  /** Removes the end of the present pause, or starts this one. */
  pauseWithoutEnd(pause: Pause): void {
    this.setPause({ ...(this.pause() ?? pause), until: null });
  }

  liftPause(): void {
    this.setPause(null);
    this.values.set("skipped_run", null);
  }

  /** The right to replace the manifest in R2. */
  get claim(): Claim {
    return {
      owner: this.#owner(),
      replaceable: () => this.values.get("replaceable"),
      checked: (problem) => {
        if (problem !== this.values.get("foreign")) this.values.set("foreign", problem);
      },
    };
  }

  /** An installation that has lost its id gets a new one, and must take over its stores. */
  #owner(): string {
    const made = crypto.randomUUID().replaceAll("-", "");
    const owner = this.values.get("owner", () => made);
    if (owner === null) this.values.set("owner", made);
    return owner ?? made;
  }

  /** Forgets a version that the stores will never show, unless another one awaits replication by now. */
  withdraw(generation: number | null): void {
    if (generation === null || generation !== this.values.get("unreplicated")) return;
    this.#versions.delete(generation);
    this.values.set("unreplicated", null);
  }

  /** Replaces all versions by those of the stores to take over, with this ETag of their manifest. */
  takeOver(manifests: readonly Manifest[], etag: string): void {
    this.replaceVersions(manifests);
    this.values.set("unreplicated", null);
    this.values.set("foreign", null);
    this.values.set("replaceable", etag);
  }

  /** Lists the retained versions, newest first. */
  versions(): Manifest[] {
    return this.#versions.newest();
  }

  currentVersion(): Manifest | null {
    return this.#versions.newest(1)[0] ?? null;
  }

  /** The highest known generation that was ever published; 0 if none. */
  lastGeneration(): number {
    return Math.max(this.currentVersion()?.generation ?? 0, this.values.get("highest") ?? 0);
  }

  findRetained(generation: number): Manifest | undefined {
    return this.#versions.find(generation);
  }

  /** Records a version as published, and prunes old ones. Throws if its generation exists. */
  addVersion(manifest: Manifest): void {
    this.#versions.add(manifest);
    this.values.set("unreplicated", manifest.generation);
    const retained = new Set(retainedVersions(this.versions()));
    for (const { generation } of this.versions())
      if (!retained.has(generation)) this.#versions.delete(generation);
  }

  replaceVersions(manifests: readonly Manifest[]): void {
    this.#versions.clear();
    for (const manifest of manifests) this.#versions.add(manifest);
  }

  /** The version that awaits replication; null if the stores show the current one. */
  unreplicated(): Manifest | null {
    const generation = this.values.get("unreplicated");
    return generation === null ? null : (this.findRetained(generation) ?? null);
  }

  /** Records that the stores show a version. No effect if a newer version awaits replication. */
  setReplicated(generation: number): void {
    if (this.values.get("unreplicated") === generation) this.values.set("unreplicated", null);
  }

  /** The ledger to compare upstream with; null for the snapshot's. */
  ledgerFiles(): LedgerFiles | null {
    return this.savedLedger() ?? ledgerOf(this.currentVersion()?.sources ?? {});
  }

  /** The ledger of the last run while its version is published; null before it and after a rollback. */
  savedLedger(): SavedLedger | null {
    const [ledger, current] = [this.values.get("ledger"), this.currentVersion()];
    if (ledger?.generation !== current?.generation) return null;
    if (ledger === null || ledger.published_at !== current?.published_at) return null;
    const { accepted, held, held_changes } = ledger;
    return { accepted, held, held_changes };
  }

  recordLedger(ledger: SavedLedger): void {
    const current = this.currentVersion();
    if (current === null) return;
    const { generation, published_at } = current;
    this.values.set("ledger", { ...ledger, generation, published_at });
  }

  /** Lists the archived files that a later run may need, as a basis or as a candidate. */
  neededFiles(): Sha256Hex[] {
    const ledger = this.values.get("ledger");
    const files = [
      ...this.values.entries<`archived:${string}`>("archived:").map(([, archived]) => archived),
      ...candidateFiles(this.runs()),
    ];
    return [
      ...files.flatMap((upstream) => Object.values(upstream).map(({ sha256 }) => sha256)),
      ...(ledger === null ? [] : [ledger.accepted, ledger.held]),
    ];
  }

  /** Whether D1 has had the end of a retained run. */
  hasSavedRuns(): boolean {
    const waiting = new Set(this.history.rows().map(({ value }) => value.id));
    return this.runs().some(({ id, state }) => !isOpen(state) && !waiting.has(id));
  }

  setHistoryLost(at: Instant | null): void {
    this.values.set("history_lost", at);
  }

  /** Records the request of a key. False if an earlier request with this key was a different one. */
  claimKey(key: string, fingerprint: string): boolean {
    const known = this.values.get("request_keys") ?? [];
    const earlier = known.find(([other]) => other === key);
    if (earlier !== undefined) return earlier[1] === fingerprint;
    this.values.set("request_keys", [[key, fingerprint], ...known.slice(0, KEYS_KEPT - 1)]);
    return true;
  }
}

const LOST_PAUSE =
  "the stored pause could not be read: see GET /admin/monitor/set-aside, then resume";
