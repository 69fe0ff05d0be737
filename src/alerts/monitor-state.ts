import { Outbox } from "../storage/outbox.ts";
import { FactTable } from "../storage/fact-table.ts";
import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import { TickTable } from "../storage/tick-table.ts";
import type { AlertResult, AlertRun } from "./alert-run.ts";
import type { AlertTrack } from "./alert-state.ts";
import type { DeliveryRecord, Undelivered } from "./deliveries.ts";

/** An alert after the last evaluation. */
export interface AlertRecord {
  readonly track: AlertTrack;
  readonly last: AlertResult;
}

/** Status of a webhook. */
interface TargetRecord {
  /** Consecutive evaluations with a failed delivery. */
  readonly failures: number;
  readonly lastError: string | null;
  readonly undelivered: Undelivered;
}

/** Most evaluations that wait for D1: about 17 days. */
const OUTBOX_MAX_ROWS = 5_000;

/** Single values by name. */
interface MonitorValues {
  /** Time of the first evaluation. */
  readonly since: number;
  readonly last_run: AlertRun;
  /** Last locale with checked copies, and the time of that check. */
  readonly checked_locale: string;
  readonly checked_at: number;
  /** Blobs with a damaged copy. */
  readonly suspects: readonly string[];
  /** Time of the last deletion of old rows in D1. */
  readonly cleaned_at: number;
}

/** The monitor's tables. Every method is synchronous; callers group writes in a `transaction`. */
export class MonitorState {
  readonly facts: FactTable<MonitorValues>;
  readonly ticks: TickTable;
  /** Evaluations for D1. */
  readonly outbox: Outbox<AlertRun>;
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.facts = new FactTable(storage);
    this.ticks = new TickTable(storage);
    this.outbox = new Outbox(storage, "alert_history", OUTBOX_MAX_ROWS);
    this.#exec(
      `CREATE TABLE IF NOT EXISTS alerts (fingerprint TEXT PRIMARY KEY, record TEXT NOT NULL)`,
    );
    this.#exec(
      `CREATE TABLE IF NOT EXISTS deliveries (target TEXT NOT NULL, fingerprint TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (target, fingerprint))`,
    );
    this.#exec(`CREATE TABLE IF NOT EXISTS targets (name TEXT PRIMARY KEY, record TEXT NOT NULL)`);
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  /** Returns every stored alert by fingerprint. */
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

  /** Returns the deliveries of an alert to a target; null if there are none. */
  delivery(target: string, fingerprint: string): DeliveryRecord | null {
    const query = "SELECT record FROM deliveries WHERE target = ? AND fingerprint = ?";
    return this.#find(query, target, fingerprint) ?? null;
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
    return this.#find("SELECT record FROM targets WHERE name = ?", name) ?? NEW_TARGET;
  }

  setTarget(name: string, record: TargetRecord): void {
    this.#exec(
      "INSERT OR REPLACE INTO targets (name, record) VALUES (?, ?)",
      name,
      JSON.stringify(record),
    );
  }

  /** Deletes all other targets and their deliveries. */
  keepTargets(names: readonly string[]): void {
    const known = this.#exec("SELECT name FROM targets UNION SELECT target FROM deliveries");
    for (const name of known.map((row) => String(row["name"])))
      if (!names.includes(name)) {
        this.#exec("DELETE FROM targets WHERE name = ?", name);
        this.#exec("DELETE FROM deliveries WHERE target = ?", name);
      }
  }

  /** Adds an evaluation to the outbox or replaces it. */
  saveRun(run: AlertRun): void {
    this.facts.set("last_run", run);
    this.outbox.add(run, run.id);
  }

  /** Returns the record of the first row; undefined if there is none. */
  #find(query: string, ...bindings: string[]) {
    const [row] = this.#exec(query, ...bindings);
    return row && JSON.parse(String(row["record"]));
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}

const NEW_TARGET: TargetRecord = {
  failures: 0,
  lastError: null,
  undelivered: {},
};
