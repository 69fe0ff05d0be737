import * as z from "zod";
import { count } from "../catalog/fields.ts";
import type { Log } from "../log.ts";
import { ObjectTables, storedTime, type TableStorage } from "../storage/object-tables.ts";
import { JsonTable, migrate, type ObjectSchema, Outbox, TickTable } from "../storage/tables.ts";
import { ALERT_STATES, type AlertRun, alertResultSchema, alertRunSchema } from "./alert-run.ts";
import { SEVERITIES, type Severity } from "../health/rule-names.ts";
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

/** Results of rules of an earlier Worker, too. */
const storedResult = alertResultSchema.extend({ rule: z.string(), unit: z.string() });
const storedRun = alertRunSchema.extend({ results: z.array(storedResult) });

/** The monitor's tables as they are checked when an instance reads them first. */
const SCHEMAS = {
  values: {
    since: storedTime,
    last_run: storedRun,
    checked_locale: z.string(),
    checked_at: storedTime,
    suspects: z.array(z.string()),
    silent_since: storedTime,
    cleaned_at: storedTime,
  },
  alert: z.object({
    track: z.object({
      state: z.enum(ALERT_STATES),
      since: storedTime,
      badSince: storedTime.nullable(),
      nodataSince: storedTime.nullable(),
      goods: count,
      raisedAt: storedTime.nullable(),
    }),
    last: storedResult,
  }),
  delivery: z.object({
    isOpen: z.boolean(),
    raisedAt: storedTime,
    deliveredAt: storedTime,
    saidFired: z.boolean(),
    saidNodata: z.boolean(),
    severities: z.array(z.enum(SEVERITIES)).optional(),
  }),
  target: z.object({
    failures: count,
    lastError: z.string().nullable(),
    undelivered: z.record(z.string(), z.string()),
  }),
} as const;

/** The schema of a single value. What no Worker has written is none. */
function schemaOfValue(key: string): z.ZodType {
  return new Map<string, z.ZodType>(Object.entries(SCHEMAS.values)).get(key) ?? z.never();
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
  readonly tables: ObjectTables;

  /** Throws OtherVersion if another version of this service made the tables. */
  constructor(
    storage: TableStorage,
    { log, now }: { readonly log: Log; readonly now: () => number },
  ) {
    migrate(storage, "alert monitor", MONITOR_SCHEMA);
    const tables = new ObjectTables(storage, { log, now });
    this.tables = tables;
    this.values = new JsonTable(tables, "facts", schemaOfValue);
    this.ticks = new TickTable(tables);
    const rows = { name: "alert_history", schema: storedRun, maxRows: OUTBOX_MAX_ROWS };
    this.outbox = new Outbox(tables, rows);
    this.#alerts = new JsonTable(tables, "alerts", () => SCHEMAS.alert);
    this.#deliveries = new JsonTable(tables, "deliveries", () => SCHEMAS.delivery);
    this.#targets = new JsonTable(tables, "targets", () => SCHEMAS.target);
  }

  transaction<T>(work: () => T): T {
    return this.tables.transactionSync(work);
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
