import {
  JsonTable,
  migrate,
  type ObjectSchema,
  Outbox,
  type TableStorage,
  TickTable,
} from "../storage/tables.ts";
import type { AlertRun } from "./alert-run.ts";
import type { Severity } from "../health/rule-names.ts";
import type { AlertRecord } from "./alert-state.ts";

/** The versions of the monitor's tables. */
export const MONITOR_SCHEMA: ObjectSchema = [
  [
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE ticks (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE alerts (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE deliveries (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE targets (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT NOT NULL, id TEXT, value TEXT NOT NULL, UNIQUE (outbox, id))",
  ],
];

/** Deliveries of an alert to a target. Times are milliseconds since 1970. */
export interface DeliveryRecord {
  /** Whether the target knows the alert as raised. */
  readonly isOpen: boolean;
  /** Raising time of the alert that the target knows. */
  readonly raisedAt: number;
  /** Time of the last delivery. */
  readonly deliveredAt: number;
  /** Whether the target knows that the raised alert fires, and that it has no data. */
  readonly saidFired: boolean;
  readonly saidNodata: boolean;
  /** The severities under which the target knows it. Absent in records of earlier Workers. */
  readonly severities?: readonly Severity[];
}

/** Message id of each undelivered change, by change key. */
export type Undelivered = { readonly [changeKey: string]: string };

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
  /** First of the evaluations in a row that could not read the coordinator. */
  readonly silent_since: number;
  /** Time of the last deletion of old rows in D1. */
  readonly cleaned_at: number;
}

/** The monitor's tables. Every method is synchronous; callers group writes in a `transaction`. */
export class MonitorState {
  readonly values: JsonTable<MonitorValues>;
  readonly ticks: TickTable;
  /** Evaluations for D1. */
  readonly outbox: Outbox<AlertRun>;
  /** By fingerprint. */
  readonly #alerts: JsonTable<{ readonly [fingerprint: string]: AlertRecord }>;
  /** By `deliveryKey`. */
  readonly #deliveries: JsonTable<{ readonly [key: string]: DeliveryRecord }>;
  /** By the webhook's name. */
  readonly #targets: JsonTable<{ readonly [name: string]: TargetRecord }>;
  readonly #storage: TableStorage;

  /** Throws OtherVersion if another version of this service made the tables. */
  constructor(storage: TableStorage) {
    migrate(storage, "alert monitor", MONITOR_SCHEMA);
    this.#storage = storage;
    this.values = new JsonTable(storage, "facts");
    this.ticks = new TickTable(storage);
    this.outbox = new Outbox(storage, "alert_history", OUTBOX_MAX_ROWS);
    this.#alerts = new JsonTable(storage, "alerts");
    this.#deliveries = new JsonTable(storage, "deliveries");
    this.#targets = new JsonTable(storage, "targets");
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  /** Returns every stored alert by fingerprint. */
  alerts(): Map<string, AlertRecord> {
    return new Map(this.#alerts.entries());
  }

  saveAlert(fingerprint: string, record: AlertRecord): void {
    this.#alerts.set(fingerprint, record);
  }

  forgetAlert(fingerprint: string): void {
    this.#alerts.set(fingerprint, null);
    for (const [key] of this.#deliveries.entries(`${fingerprint} `))
      this.#deliveries.set(key, null);
  }

  /** Returns the deliveries of an alert to a target; null if there are none. */
  delivery(target: string, fingerprint: string): DeliveryRecord | null {
    return this.#deliveries.get(deliveryKey(target, fingerprint));
  }

  setDelivery(target: string, fingerprint: string, record: DeliveryRecord): void {
    this.#deliveries.set(deliveryKey(target, fingerprint), record);
  }

  target(name: string): TargetRecord {
    return this.#targets.get(name) ?? NEW_TARGET;
  }

  setTarget(name: string, record: TargetRecord): void {
    this.#targets.set(name, record);
  }

  /** Deletes all other targets and their deliveries. */
  keepTargets(names: readonly string[]): void {
    for (const [name] of this.#targets.entries())
      if (!names.includes(name)) this.#targets.set(name, null);
    for (const [key] of this.#deliveries.entries())
      if (!names.includes(key.slice(key.indexOf(" ") + 1))) this.#deliveries.set(key, null);
  }

  /** Adds an evaluation to the outbox or replaces it. */
  saveRun(run: AlertRun): void {
    this.values.set("last_run", run);
    this.outbox.add(run, run.id);
  }
}

/** A fingerprint has no space. */
function deliveryKey(target: string, fingerprint: string): string {
  return `${fingerprint} ${target}`;
}

const NEW_TARGET: TargetRecord = {
  failures: 0,
  lastError: null,
  undelivered: {},
};
