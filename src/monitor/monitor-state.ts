import * as z from "zod";
import { sha256Hex } from "../catalog/bytes.ts";
import type { DeepReadonly } from "../schemas/fields.ts";
import type { Log } from "../platform/log.ts";
import type { EpochMs } from "../platform/units.ts";
import { ObjectTables, storedTime, type TableStorage } from "../storage/object-tables.ts";
import { JsonTable, migrate, type ObjectSchema, TickTable } from "../storage/object-tables.ts";
import { Outbox } from "../storage/outbox.ts";
import {
  type AlertRun,
  alertResultSchema,
  alertRunSchema,
  withoutInactive,
} from "../schemas/alert-run.ts";
import { type AlertRecord, alertTrack } from "./alert-state.ts";
import { NEW_TARGET, type TargetRecord, targetRecord } from "./deliveries.ts";
import type { WebhookTarget } from "./alert-settings.ts";

export const MONITOR_SCHEMA: ObjectSchema = [
  [
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE ticks (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE alerts (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE deliveries (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE targets (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT NOT NULL, id TEXT, value TEXT NOT NULL, UNIQUE (outbox, id))",
  ],
  // The next evaluation notifies each webhook again of the open alerts.
  ["DROP TABLE deliveries", "DELETE FROM targets"],
  // Plainer names.
  [
    "ALTER TABLE facts RENAME TO single_values",
    `UPDATE alerts SET value = replace(value, '"goods":', '"consecutiveGood":')`,
    `UPDATE targets SET value = replace(value, '"told":', '"notified":')`,
  ],
];

/** Maximum number of evaluations that wait for D1: about 17 days. */
const OUTBOX_MAX_ROWS = 5_000;

/** May be a rule of an earlier Worker. */
const storedResult = alertResultSchema.extend({ rule: z.string(), unit: z.string() });
const storedRun = alertRunSchema.extend({ results: z.array(storedResult) });

/** Single values by name. */
const VALUES = {
  /** Time of the first evaluation. */
  since: storedTime,
  last_run: storedRun,
  /** Last locale with checked copies, and the time of that check. */
  checked_locale: z.string(),
  checked_at: storedTime,
  suspects: z.array(z.string()),
  /** First of the consecutive evaluations that could not read the coordinator. */
  silent_since: storedTime,
  cleaned_at: storedTime,
} as const;

type Values = DeepReadonly<{ [V in keyof typeof VALUES]: z.output<(typeof VALUES)[V]> }>;

interface MonitorValues extends Omit<Values, "last_run"> {
  readonly last_run: AlertRun;
}

const alertRecord = z.object({ track: alertTrack, last: storedResult });

/** The schema of a single value. No Worker writes any other value. */
function schemaOfValue(key: string): z.ZodType {
  return new Map<string, z.ZodType>(Object.entries(VALUES)).get(key) ?? z.never();
}

/** The monitor's tables. Every method is synchronous; callers group writes in a `transaction`. */
export class MonitorState {
  readonly values: JsonTable<MonitorValues>;
  readonly ticks: TickTable;
  readonly outbox: Outbox<AlertRun>;
  /** By fingerprint. */
  readonly #alerts: JsonTable<{ readonly [fingerprint: string]: AlertRecord }>;
  /** By `targetKey`. */
  readonly #targets: JsonTable<{ readonly [key: string]: TargetRecord }>;
  readonly tables: ObjectTables;

  /** Throws OtherVersion if another version of this service made the tables. */
  constructor(
    storage: TableStorage,
    { log, now }: { readonly log: Log; readonly now: () => EpochMs },
  ) {
    migrate(storage, "alert monitor", MONITOR_SCHEMA);
    const tables = new ObjectTables(storage, { log, now });
    this.tables = tables;
    this.values = new JsonTable(tables, "single_values", schemaOfValue);
    this.ticks = new TickTable(tables);
    const rows = { name: "alert_history", schema: storedRun, maxRows: OUTBOX_MAX_ROWS };
    this.outbox = new Outbox(tables, rows);
    this.#alerts = new JsonTable(tables, "alerts", () => alertRecord);
    this.#targets = new JsonTable(tables, "targets", () => targetRecord);
  }

  transaction<T>(work: () => T): T {
    return this.tables.transactionSync(work);
  }

  alerts(): Map<string, AlertRecord> {
    return new Map(this.#alerts.entries());
  }

  saveAlert(fingerprint: string, record: AlertRecord): void {
    this.#alerts.set(fingerprint, record);
  }

  forgetAlert(fingerprint: string): void {
    this.#alerts.set(fingerprint, null);
  }

  target(target: WebhookTarget): TargetRecord {
    return this.#targets.get(targetKey(target)) ?? NEW_TARGET;
  }

  setTarget(target: WebhookTarget, record: TargetRecord): void {
    this.#targets.set(targetKey(target), record);
  }

  /** Deletes the records of all other targets. */
  keepTargets(targets: readonly WebhookTarget[]): void {
    const kept = new Set(targets.map(targetKey));
    for (const [key] of this.#targets.entries()) if (!kept.has(key)) this.#targets.set(key, null);
  }

  saveRun(run: AlertRun): void {
    this.values.set("last_run", run);
    this.outbox.add(withoutInactive(run), run.id);
  }
}

/**
 * A target with another name or URL is another receiver, which was notified of nothing. The URL may be
 * a secret, so it is hashed.
 */
function targetKey({ name, url }: WebhookTarget): string {
  return `${name} ${sha256Hex(url)}`;
}
