import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import type { AlertResult, AlertRun } from "./alert-run.ts";
import type { AlertTrack } from "./alert-state.ts";
import type { DeliveryRecord, Undelivered } from "./deliveries.ts";

/** An alert as it was left by the last evaluation. */
export interface AlertRecord {
  readonly track: AlertTrack;
  readonly last: AlertResult;
}

/** What is known of a webhook. Times are milliseconds since 1970. */
export interface TargetRecord {
  /** Evaluations in a row at which a message could not be delivered. */
  readonly failures: number;
  readonly lastError: string | null;
  readonly lastDeliveredAt: number | null;
  readonly undelivered: Undelivered;
}

/** Single values, by their names. */
interface Facts {
  /** When the first evaluation was made. */
  readonly since: number;
  readonly last_run: AlertRun;
  /** The locale whose copies were checked last, and when. */
  readonly checked_locale: string;
  readonly checked_at: number;
  /** Blobs of which a copy was damaged. */
  readonly suspects: readonly string[];
  /** When old rows were last deleted from D1. */
  readonly cleaned_at: number;
}

/** Cron ticks that are remembered, so that one which fires twice counts once. */
const TICKS_KEPT = 200;
/** Evaluations that may wait for D1: about 17 days of them. */
const OUTBOX_MAX_ROWS = 5_000;

/** The monitor's tables. Every method is synchronous; callers put what belongs together in one `transaction`. */
export class MonitorState {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.#exec(
      `CREATE TABLE IF NOT EXISTS alerts (fingerprint TEXT PRIMARY KEY, record TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS deliveries (target TEXT NOT NULL, fingerprint TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (target, fingerprint))`,
    );
    this.#exec(`CREATE TABLE IF NOT EXISTS targets (name TEXT PRIMARY KEY, record TEXT NOT NULL)`);
    this.#exec(`CREATE TABLE IF NOT EXISTS ticks (at INTEGER PRIMARY KEY)`);
    this.#exec(`CREATE TABLE IF NOT EXISTS outbox (id TEXT PRIMARY KEY, run TEXT NOT NULL)`);
    this.#exec(`CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`);
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  /** Every alert that is remembered, by its fingerprint. */
  alerts(): Map<string, AlertRecord> {
    const rows = this.#exec("SELECT fingerprint, record FROM alerts ORDER BY fingerprint");
    return new Map(
      rows.map((row) => [String(row["fingerprint"]), JSON.parse(String(row["record"]))]),
    );
  }

  saveAlert(fingerprint: string, record: AlertRecord): void {
    this.#exec(
      "INSERT OR REPLACE INTO alerts (fingerprint, record) VALUES (?, ?)",
      fingerprint,
      JSON.stringify(record),
    );
  }

  forgetAlert(fingerprint: string): void {
    this.#exec("DELETE FROM alerts WHERE fingerprint = ?", fingerprint);
    this.#exec("DELETE FROM deliveries WHERE fingerprint = ?", fingerprint);
  }

  /** What was delivered to a target of an alert; null if nothing was. */
  delivery(target: string, fingerprint: string): DeliveryRecord | null {
    const [row] = this.#exec(
      "SELECT record FROM deliveries WHERE target = ? AND fingerprint = ?",
      target,
      fingerprint,
    );
    return row === undefined ? null : JSON.parse(String(row["record"]));
  }

  setDelivery(target: string, fingerprint: string, record: DeliveryRecord): void {
    this.#exec(
      "INSERT OR REPLACE INTO deliveries (target, fingerprint, record) VALUES (?, ?, ?)",
      target,
      fingerprint,
      JSON.stringify(record),
    );
  }

  target(name: string): TargetRecord {
    const [row] = this.#exec("SELECT record FROM targets WHERE name = ?", name);
    return row === undefined ? NEW_TARGET : JSON.parse(String(row["record"]));
  }

  setTarget(name: string, record: TargetRecord): void {
    this.#exec(
      "INSERT OR REPLACE INTO targets (name, record) VALUES (?, ?)",
      name,
      JSON.stringify(record),
    );
  }

  /** Forgets the targets that are no longer configured, and what was delivered to them. */
  keepTargets(names: readonly string[]): void {
    const known = this.#exec("SELECT name FROM targets UNION SELECT target FROM deliveries");
    for (const name of known.map((row) => String(row["name"])))
      if (!names.includes(name)) {
        this.#exec("DELETE FROM targets WHERE name = ?", name);
        this.#exec("DELETE FROM deliveries WHERE target = ?", name);
      }
  }

  /** Whether the cron tick of this scheduled time has been evaluated. */
  hasTick(at: number): boolean {
    return this.#exec("SELECT at FROM ticks WHERE at = ?", at).length > 0;
  }

  /** When the newest tick was due that has been evaluated; null before the first. */
  lastTick(): number | null {
    const at = this.#exec("SELECT MAX(at) AS at FROM ticks")[0]?.["at"] ?? null;
    return at === null ? null : Number(at);
  }

  /** Remembers a cron tick by its scheduled time. */
  addTick(at: number): void {
    this.#exec("INSERT OR IGNORE INTO ticks (at) VALUES (?)", at);
    this.#exec(
      "DELETE FROM ticks WHERE at < (SELECT MIN(at) FROM (SELECT at FROM ticks ORDER BY at DESC LIMIT ?))",
      TICKS_KEPT,
    );
  }

  /** Puts an evaluation where it waits for D1, or replaces it there. The oldest give way to it. */
  saveRun(run: AlertRun): void {
    this.setFact("last_run", run);
    this.#exec(
      "INSERT OR REPLACE INTO outbox (id, run) VALUES (?, ?)",
      run.id,
      JSON.stringify(run),
    );
    this.#exec(
      "DELETE FROM outbox WHERE id NOT IN (SELECT id FROM outbox ORDER BY id DESC LIMIT ?)",
      OUTBOX_MAX_ROWS,
    );
  }

  /** Evaluations for D1, oldest first. */
  outbox(limit: number): AlertRun[] {
    return this.#exec("SELECT run FROM outbox ORDER BY id LIMIT ?", limit).map((row) =>
      JSON.parse(String(row["run"])),
    );
  }

  outboxLength(): number {
    return Number(this.#exec("SELECT COUNT(*) AS rows FROM outbox")[0]?.["rows"] ?? 0);
  }

  /** Forgets evaluations that have reached D1. */
  trimOutbox(throughId: string): void {
    this.#exec("DELETE FROM outbox WHERE id <= ?", throughId);
  }

  fact<N extends keyof Facts>(name: N): Facts[N] | null {
    const [row] = this.#exec("SELECT value FROM facts WHERE name = ?", name);
    return row === undefined ? null : JSON.parse(String(row["value"]));
  }

  setFact<N extends keyof Facts>(name: N, value: Facts[N]): void {
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

const NEW_TARGET: TargetRecord = {
  failures: 0,
  lastError: null,
  lastDeliveredAt: null,
  undelivered: {},
};
