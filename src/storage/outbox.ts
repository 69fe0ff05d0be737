import { describeError, type Log } from "../log.ts";
import { withDeadline } from "./deadline.ts";
import { attemptTime } from "./elapsed.ts";
import type { SqlRow, TableStorage } from "./json-table.ts";

/** Largest number of rows in one call. */
const BATCH = 20;
/** Wait after D1 has failed or timed out. */
const RETRY_MS = 30_000;

/** A row that waits for D1. */
interface OutboxRow<Value> {
  /** Rises with each row. */
  readonly seq: number;
  readonly value: Value;
}

/** Delivers rows to D1. */
interface Delivery<Value> {
  /** Writes rows. Idempotent. Throws if D1 fails. */
  readonly send: (rows: readonly OutboxRow<Value>[]) => Promise<unknown>;
  /** Called after rows have been written. Throws if D1 fails. */
  readonly sent?: (rows: readonly OutboxRow<Value>[]) => Promise<unknown>;
  /** Deadline of each call. */
  readonly deadlineMs: number;
  readonly now: () => number;
  readonly log: Log;
}

/**
 * A transactional outbox for D1. Callers add a row in the transaction of the change that it
 * describes. The outbox sends rows later, in order, and keeps up to `maxRows` until D1 accepts
 * them. Its table has SQL of its own, because `seq` must rise also after rows were deleted.
 */
export class Outbox<Value> {
  readonly #storage: TableStorage;
  readonly #name: string;
  readonly #maxRows: number;
  #retryAt = 0;

  /**
   * @param name of the rows, and of the event `<name>_unreachable` in the log.
   * @param maxRows how many may wait.
   */
  constructor(storage: TableStorage, name: string, maxRows = Number.MAX_SAFE_INTEGER) {
    this.#storage = storage;
    this.#name = name;
    this.#maxRows = maxRows;
    this.#exec(
      "CREATE TABLE IF NOT EXISTS outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT NOT NULL, id TEXT, value TEXT NOT NULL, UNIQUE (outbox, id))",
    );
  }

  /**
   * Adds a row. Drops the oldest rows beyond the limit.
   *
   * @param id if given, replaces a waiting row of the same id.
   */
  add(value: Value, id: string | null = null): void {
    const text = JSON.stringify(value);
    this.#exec(
      "INSERT OR REPLACE INTO outgoing (outbox, id, value) VALUES (?, ?, ?)",
      this.#name,
      id,
      text,
    );
    this.#exec(
      "DELETE FROM outgoing WHERE outbox = ? AND seq <= (SELECT seq FROM outgoing WHERE outbox = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)",
      this.#name,
      this.#name,
      this.#maxRows,
    );
  }

  /** Lists the first rows, oldest first. */
  rows(limit = -1): OutboxRow<Value>[] {
    const query = "SELECT seq, value FROM outgoing WHERE outbox = ? ORDER BY seq LIMIT ?";
    return this.#exec(query, this.#name, limit).map(({ seq, value }) => ({
      seq: Number(seq),
      value: JSON.parse(String(value)), // only `add` writes them
    }));
  }

  get length(): number {
    const query = "SELECT COUNT(*) AS rows FROM outgoing WHERE outbox = ?";
    return Number(this.#exec(query, this.#name)[0]?.["rows"] ?? 0);
  }

  /** Time of the next delivery (milliseconds since 1970); null if no row is waiting. */
  dueAt(now: number): number | null {
    return this.length === 0 ? null : attemptTime(this.#retryAt, RETRY_MS, now);
  }

  /** Sends all rows, or stops at the first failure. Never throws. */
  async drain({ send, sent, deadlineMs, now, log }: Delivery<Value>): Promise<void> {
    // A promise of D1 may never settle, and the alarm must not wait for it.
    const inTime = (work: Promise<unknown>) => withDeadline("D1", deadlineMs, work);
    while (now() >= (this.dueAt(now()) ?? Infinity)) {
      const batch = this.rows(BATCH);
      try {
        await inTime(send(batch));
        this.#delete(batch.at(-1)?.seq ?? 0);
        if (sent !== undefined) await inTime(sent(batch));
      } catch (cause) {
        this.#retryAt = now() + RETRY_MS;
        log("warn", `${this.#name}_unreachable`, describeError(cause));
      }
    }
  }

  #delete(throughSeq: number): void {
    this.#exec("DELETE FROM outgoing WHERE outbox = ? AND seq <= ?", this.#name, throughSeq);
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
