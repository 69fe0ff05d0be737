import {
  JsonTable,
  migrate,
  type ObjectSchema,
  Outbox,
  type TableStorage,
  TickTable,
} from "../storage/tables.ts";
import { sha256Hex } from "../catalog/bytes.ts";
import { type AlertRun, withoutInactive } from "./alert-run.ts";
import type { AlertRecord } from "./alert-state.ts";
import { NEW_TARGET, type TargetRecord } from "./deliveries.ts";
import type { WebhookTarget } from "./settings.ts";

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
  // The next evaluation tells each webhook again which alerts are open.
  ["DROP TABLE deliveries", "DELETE FROM targets"],
];

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
  /** By `targetKey`. */
  readonly #targets: JsonTable<{ readonly [key: string]: TargetRecord }>;
  readonly #storage: TableStorage;

  /** Throws OtherVersion if another version of this service made the tables. */
  constructor(storage: TableStorage) {
    migrate(storage, "alert monitor", MONITOR_SCHEMA);
    this.#storage = storage;
    this.values = new JsonTable(storage, "facts");
    this.ticks = new TickTable(storage);
    this.outbox = new Outbox(storage, "alert_history", OUTBOX_MAX_ROWS);
    this.#alerts = new JsonTable(storage, "alerts");
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

  /** Adds an evaluation to the outbox or replaces it. */
  saveRun(run: AlertRun): void {
    this.values.set("last_run", run);
    this.outbox.add(withoutInactive(run), run.id);
  }
}

/** Who has another name or URL is another receiver, and was told nothing. The URL may be a secret. */
function targetKey({ name, url }: WebhookTarget): string {
  return `${name} ${sha256Hex(url)}`;
}
