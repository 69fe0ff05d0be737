import { type Manifest, UNRECORDED } from "../catalog/manifest.ts";
import type { AuditEntry } from "../storage/audit-store.ts";
import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import { candidateFiles } from "./candidate.ts";
import type { Pause } from "./pause.ts";
import { inTurn, type QueueView } from "./queue.ts";
import { type EndedRun, isOpen, type Run, type RunState, type UpstreamFiles } from "./run.ts";
import { parseRecord, parseRun, type RunRecord } from "./run-record.ts";
import { retainedVersions } from "./versions.ts";

/** A row that waits to be written to D1. */
export interface OutboxRow {
  readonly seq: number;
  readonly run: Run;
}

/** What is kept once, by its name. */
interface Facts {
  readonly pause: Pause;
  readonly skipped_run: string;
  readonly unreplicated: number;
  /** When garbage was last collected to the end (ms since 1970). */
  readonly collected_at: number;
  readonly [archived: `archived:${string}`]: UpstreamFiles;
}

/** Ended runs that the coordinator itself remembers; D1 has the rest. */
const ENDED_RUNS_KEPT = 50;
/** Cron ticks that are remembered, so that one which fires twice counts once. */
const TICKS_KEPT = 200;

/**
 * The coordinator's tables. Every method is synchronous; callers put what belongs together in one
 * `transaction`.
 */
export class CoordinatorState {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.#exec(
      `CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, state TEXT NOT NULL, record TEXT NOT NULL)`,
    );
    this.#exec(`CREATE INDEX IF NOT EXISTS runs_by_state ON runs (state, id)`);
    this.#exec(
      `CREATE TABLE IF NOT EXISTS versions (generation INTEGER PRIMARY KEY, manifest TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS audit_outbox (id TEXT PRIMARY KEY, entry TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS garbage (name TEXT PRIMARY KEY, since INTEGER NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS ticks (cron TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (cron, at))`,
    );
    this.#exec(`CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`);
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  queue(): QueueView {
    return {
      waiting: inTurn(this.#runsIn("queued")),
      running: this.#runsIn("running")[0],
      pause: this.pause(),
    };
  }

  /** Summaries of the runs that are over and remembered, newest first. */
  endedRuns(): EndedRun[] {
    const records = this.#records("WHERE state NOT IN ('queued', 'running') ORDER BY id DESC");
    return records.map(({ run }) => {
      const { id, state, outcome, trigger, mode, finished_at, error, guards } = run;
      return { id, state, outcome, trigger, mode, finished_at, error, guards };
    });
  }

  findRun(id: string): RunRecord | undefined {
    return this.#records("WHERE id = ?", id)[0];
  }

  /** Saves a run, and sends its row to D1 when people would see a difference. */
  saveRun(record: RunRecord, visible: boolean): void {
    const { run } = record;
    const text = JSON.stringify(record);
    this.#exec(
      "INSERT OR REPLACE INTO runs (id, state, record) VALUES (?, ?, ?)",
      run.id,
      run.state,
      text,
    );
    if (visible) this.#exec("INSERT INTO outbox (run) VALUES (?)", JSON.stringify(run));
    if (!isOpen(run.state)) this.#forgetEndedRuns();
  }

  pause(): Pause | null {
    return this.#fact("pause");
  }

  setPause(pause: Pause | null): void {
    this.#setFact("pause", pause);
  }

  /** The row that stands for the cron ticks that are being skipped; null after one was taken. */
  skippedRunId(): string | null {
    return this.#fact("skipped_run");
  }

  setSkippedRunId(id: string | null): void {
    this.#setFact("skipped_run", id);
  }

  /** Remembers a cron tick. False if it was there already. */
  addTick(cron: string, at: number): boolean {
    const known = this.#exec("SELECT at FROM ticks WHERE cron = ? AND at = ?", cron, at);
    if (known.length > 0) return false;
    this.#exec("INSERT INTO ticks (cron, at) VALUES (?, ?)", cron, at);
    this.#exec(
      "DELETE FROM ticks WHERE at < (SELECT MIN(at) FROM (SELECT at FROM ticks ORDER BY at DESC LIMIT ?))",
      TICKS_KEPT,
    );
    return true;
  }

  /** When the newest remembered tick of each cron trigger was due (milliseconds since 1970). */
  lastTicks(): { readonly [cron: string]: number } {
    const rows = this.#exec("SELECT cron, MAX(at) AS at FROM ticks GROUP BY cron");
    return Object.fromEntries(rows.map((row) => [String(row["cron"]), Number(row["at"])]));
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
    this.#setFact("unreplicated", manifest.generation);
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
    const generation = this.#fact("unreplicated");
    return generation === null ? null : (this.findVersion(generation) ?? null);
  }

  /** Notes that the stores show a version, unless a newer one has been recorded since. */
  setReplicated(generation: number): void {
    if (this.#fact("unreplicated") === generation) this.#setFact("unreplicated", null);
  }

  /** The upstream files of the last success, for a run of the same source to begin with. */
  archivedFiles(source: string): UpstreamFiles {
    return this.#fact(`archived:${source}`) ?? {};
  }

  setArchivedFiles(source: string, files: UpstreamFiles): void {
    this.#setFact(`archived:${source}`, files);
  }

  /** The archived files that a run may yet need, as what it begins with or as its candidate. */
  neededFiles(): UpstreamFiles[] {
    const facts = this.#exec("SELECT value FROM facts WHERE name LIKE 'archived:%'");
    const runs = this.#records("ORDER BY id DESC").map(({ run }) => run);
    return [...facts.map((row) => JSON.parse(String(row["value"]))), ...candidateFiles(runs)];
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

  collectedAt(): number {
    return this.#fact("collected_at") ?? 0;
  }

  setCollectedAt(at: number): void {
    this.#setFact("collected_at", at);
  }

  /** Rows for D1, oldest first. */
  outbox(limit: number): OutboxRow[] {
    return this.#exec("SELECT seq, run FROM outbox ORDER BY seq LIMIT ?", limit).map((row) => ({
      seq: Number(row["seq"]),
      run: parseRun(String(row["run"])),
    }));
  }

  /** The runs that wait for D1, each as it is in its last row. */
  outboxRuns(): Run[] {
    const last = "SELECT MAX(seq) FROM outbox GROUP BY json_extract(run, '$.id')";
    return this.#exec(`SELECT run FROM outbox WHERE seq IN (${last}) ORDER BY seq`).map((row) =>
      parseRun(String(row["run"])),
    );
  }

  /** Rows that wait for D1. */
  outboxLength(): number {
    return Number(this.#exec("SELECT COUNT(*) AS rows FROM outbox")[0]?.["rows"] ?? 0);
  }

  /** Keeps an audit entry that D1 did not take; one that is kept already stays as it is. */
  addAuditEntry(entry: AuditEntry): void {
    const text = JSON.stringify(entry);
    this.#exec("INSERT OR IGNORE INTO audit_outbox (id, entry) VALUES (?, ?)", entry.id, text);
  }

  /** Audit entries for D1, oldest first. */
  auditEntries(limit: number): AuditEntry[] {
    return this.#exec("SELECT entry FROM audit_outbox ORDER BY id LIMIT ?", limit).map((row) =>
      JSON.parse(String(row["entry"])),
    );
  }

  /** Audit entries that wait for D1. */
  auditLength(): number {
    return Number(this.#exec("SELECT COUNT(*) AS entries FROM audit_outbox")[0]?.["entries"] ?? 0);
  }

  removeAuditEntries(entries: readonly AuditEntry[]): void {
    for (const { id } of entries) this.#exec("DELETE FROM audit_outbox WHERE id = ?", id);
  }

  /** Forgets rows that have reached D1. */
  trimOutbox(throughSeq: number): void {
    this.#exec("DELETE FROM outbox WHERE seq <= ?", throughSeq);
  }

  /** Version of the Worker that built each catalog, by its hash, as far as runs remember. */
  builders(): { readonly [catalog_sha256: string]: string | null } {
    const runs = this.#records("ORDER BY id").map(({ run }) => run);
    const built = runs.filter(({ outcome }) => outcome === "published");
    return Object.fromEntries(
      built.map(({ catalog_sha256, worker_version }) => [catalog_sha256, worker_version]),
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

  #runsIn(state: RunState): RunRecord[] {
    return this.#records("WHERE state = ? ORDER BY id", state);
  }

  #forgetEndedRuns(): void {
    this.#exec(
      `DELETE FROM runs WHERE state NOT IN ('queued', 'running') AND id NOT IN (
        SELECT id FROM runs WHERE state NOT IN ('queued', 'running') ORDER BY id DESC LIMIT ?
      )`,
      ENDED_RUNS_KEPT,
    );
  }

  #records(where: string, ...bindings: string[]): RunRecord[] {
    return this.#exec(`SELECT record FROM runs ${where}`, ...bindings).map((row) =>
      parseRecord(String(row["record"])),
    );
  }

  #manifests(where: string, ...bindings: number[]): Manifest[] {
    return this.#exec(`SELECT manifest FROM versions ${where}`, ...bindings).map((row) => ({
      ...UNRECORDED,
      ...JSON.parse(String(row["manifest"])),
    }));
  }

  #fact<N extends keyof Facts>(name: N): Facts[N] | null {
    const row = this.#exec("SELECT value FROM facts WHERE name = ?", name)[0];
    return row === undefined ? null : JSON.parse(String(row["value"])); // only `#setFact` writes them
  }

  #setFact<N extends keyof Facts>(name: N, value: Facts[N] | null): void {
    if (value === null) this.#exec("DELETE FROM facts WHERE name = ?", name);
    else
      this.#exec(
        "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
        name,
        JSON.stringify(value),
      );
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
