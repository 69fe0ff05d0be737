import { type Manifest, UNRECORDED } from "../catalog/manifest.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import { FactTable } from "../storage/fact-table.ts";
import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import { TickTable } from "../storage/tick-table.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { JobStore } from "../jobs/job-store.ts";
import { Outbox } from "../jobs/outbox.ts";
import type { Pause } from "../jobs/pause.ts";
import { type Queue, queueOf } from "../jobs/queue.ts";
import { candidateFiles } from "./candidate.ts";
import type { Run, UpstreamFiles } from "./run.ts";
import { INGEST, isRun, type RunRecord } from "./run-record.ts";
import { retainedVersions } from "./versions.ts";

/** What is kept once, by its name. */
interface Facts {
  readonly pause: Pause;
  readonly skipped_run: string;
  readonly unreplicated: number;
  readonly [archived: `archived:${string}`]: UpstreamFiles;
}

/**
 * The coordinator's tables. Every method is synchronous; callers put what belongs together in one
 * `transaction`.
 */
export class CoordinatorState {
  readonly jobs: JobStore;
  /** Runs for D1, each as it was when people would see a difference. */
  readonly history: Outbox<Run>;
  /** Audit entries that D1 did not take. */
  readonly audit: Outbox<AuditEntry>;
  readonly ticks: TickTable;
  readonly #facts: FactTable<Facts>;
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.jobs = new JobStore(storage);
    this.history = new Outbox(storage, "history");
    this.audit = new Outbox(storage, "audit");
    this.ticks = new TickTable(storage);
    this.#facts = new FactTable(storage);
    this.#exec(
      `CREATE TABLE IF NOT EXISTS versions (generation INTEGER PRIMARY KEY, manifest TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS garbage (name TEXT PRIMARY KEY, since INTEGER NOT NULL)`,
    );
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  queue(): Queue {
    return queueOf(this.jobs.open(), this.pause());
  }

  findRun(id: string): RunRecord | undefined {
    const record = this.jobs.find(INGEST, id);
    return record !== undefined && isRun(record) ? record : undefined;
  }

  /** The runs that are remembered, newest first. */
  runs(): Run[] {
    return this.jobs
      .newest(INGEST)
      .filter(isRun)
      .map(({ job }) => job);
  }

  /** Saves a job, and sends a run to D1 when people would see a difference. */
  save(record: JobRecord): void {
    const before = this.findRun(record.job.id)?.job;
    this.jobs.save(record);
    if (!isRun(record)) return;
    const { state, stage, skip_count } = record.job;
    const isSame =
      before?.state === state && before.stage === stage && before.skip_count === skip_count;
    if (!isSame) this.history.add(record.job);
  }

  pause(): Pause | null {
    return this.#facts.get("pause");
  }

  setPause(pause: Pause | null): void {
    this.#facts.set("pause", pause);
  }

  /** The row that stands for the cron ticks that are being skipped; null after one was taken. */
  skippedRunId(): string | null {
    return this.#facts.get("skipped_run");
  }

  setSkippedRunId(id: string | null): void {
    this.#facts.set("skipped_run", id);
  }

  /** The retained versions, the newest first. */
  versions(): Manifest[] {
    return this.#manifests("ORDER BY generation DESC");
  }

  /** The version published last. */
  currentVersion(): Manifest | null {
    return this.#manifests("ORDER BY generation DESC LIMIT 1")[0] ?? null;
  }

  findVersion(generation: number): Manifest | undefined {
    return this.#manifests("WHERE generation = ?", generation)[0];
  }

  /**
   * Records a version as published and prunes those that are no longer retained. The generation is
   * the primary key, so that none is given out twice.
   */
  addVersion(manifest: Manifest): void {
    this.#insertVersion(manifest);
    this.#facts.set("unreplicated", manifest.generation);
    const retained = new Set(retainedVersions(this.versions()));
    for (const { generation } of this.versions())
      if (!retained.has(generation))
        this.#exec("DELETE FROM versions WHERE generation = ?", generation);
  }

  /** Records versions in the place of all there are. */
  replaceVersions(manifests: readonly Manifest[]): void {
    this.#exec("DELETE FROM versions");
    for (const manifest of manifests) this.#insertVersion(manifest);
  }

  /** The version that the stores are still to be brought to; null if they show the current one. */
  unreplicated(): Manifest | null {
    const generation = this.#facts.get("unreplicated");
    return generation === null ? null : (this.findVersion(generation) ?? null);
  }

  /** Notes that the stores show a version, unless a newer one has been recorded since. */
  setReplicated(generation: number): void {
    if (this.#facts.get("unreplicated") === generation) this.#facts.set("unreplicated", null);
  }

  /** The upstream files of the last success, for a run of the same source to begin with. */
  archivedFiles(source: string): UpstreamFiles {
    return this.#facts.get(`archived:${source}`) ?? {};
  }

  setArchivedFiles(source: string, files: UpstreamFiles): void {
    this.#facts.set(`archived:${source}`, files);
  }

  /** The archived files that a run may yet need, as what it begins with or as its candidate. */
  neededFiles(): UpstreamFiles[] {
    return [
      ...this.#facts.startingWith<`archived:${string}`>("archived:"),
      ...candidateFiles(this.runs()),
    ];
  }

  /**
   * Remembers since when nothing has named what is stored, and forgets what is named again.
   *
   * @param unnamed names of all that nothing names now.
   * @param now milliseconds since 1970.
   * @returns those that nothing has named for `ageMs`.
   */
  ageGarbage(unnamed: readonly string[], now: number, ageMs: number): string[] {
    const since = new Map(
      this.#exec("SELECT name, since FROM garbage").map((row) => [
        String(row["name"]),
        Number(row["since"]),
      ]),
    );
    this.#exec("DELETE FROM garbage");
    for (const name of unnamed)
      this.#exec("INSERT INTO garbage (name, since) VALUES (?, ?)", name, since.get(name) ?? now);
    return unnamed.filter((name) => now - (since.get(name) ?? now) >= ageMs);
  }

  /** Version of the Worker that built each catalog, by its hash, as far as runs remember. */
  builders(): { readonly [catalog_sha256: string]: string | null } {
    const built = this.runs().filter(({ outcome }) => outcome === "published");
    return Object.fromEntries(
      built
        .toReversed()
        .map(({ catalog_sha256, worker_version }) => [catalog_sha256, worker_version]),
    );
  }

  #insertVersion(manifest: Manifest): void {
    const text = JSON.stringify(manifest);
    this.#exec(
      "INSERT INTO versions (generation, manifest) VALUES (?, ?)",
      manifest.generation,
      text,
    );
  }

  #manifests(where: string, ...bindings: number[]): Manifest[] {
    return this.#exec(`SELECT manifest FROM versions ${where}`, ...bindings).map((row) => ({
      ...UNRECORDED,
      ...JSON.parse(String(row["manifest"])),
    }));
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
