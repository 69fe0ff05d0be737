/** Rows that wait in a Durable Object until D1 takes them. */
import type * as z from "zod";
import { describeError, type Log } from "../platform/log.ts";
import { withDeadline } from "../platform/deadline.ts";
import { isRecent } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { ObjectTables, SqlRow } from "./object-tables.ts";

/** Largest number of rows in one call. */
const ROWS_PER_CALL = 20;
/** Wait after D1 has failed or timed out. */
const RETRY_MS = 30_000;

interface OutboxRow<Value> {
  readonly seq: number;
  readonly value: Value;
}

/** Delivers rows to D1. */
interface Delivery<Value> {
  /** Writes rows. Idempotent. Throws if D1 fails. */
  readonly send: (rows: readonly OutboxRow<Value>[]) => Promise<unknown>;
  /** Called after rows have been written. Throws if D1 fails. */
  readonly sent?: (rows: readonly OutboxRow<Value>[]) => Promise<unknown>;
  readonly deadlineMs: DurationMs;
  readonly now: () => EpochMs;
  readonly log: Log;
}

/**
 * A transactional outbox for D1. Callers add a row in the transaction of the change that it describes.
 * The outbox sends rows later, in order, and keeps up to `maxRows` until D1 accepts them. Its table
 * `outgoing` is no `JsonTable`, because `seq` must rise even after rows were deleted.
 */
export class Outbox<Value> {
  readonly #tables: ObjectTables;
  readonly #name: string;
  readonly #schema: z.ZodType;
  readonly #maxRows: number;
  #failedAt = 0;

  /** @param name of the rows, and of the event `<name>_unreachable` in the log. */
  constructor(
    tables: ObjectTables,
    {
      name,
      schema,
      maxRows = Number.MAX_SAFE_INTEGER,
    }: { readonly name: string; readonly schema: z.ZodType; readonly maxRows?: number },
  ) {
    this.#tables = tables;
    this.#name = name;
    this.#schema = schema;
    this.#maxRows = maxRows;
    tables.renumber("outgoing");
  }

  /** Adds a row, in the place of a waiting one with the same id. Drops the oldest rows beyond the limit. */
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
    return this.#exec(query, this.#name, limit).flatMap((row) => {
      const seq = Number(row["seq"]);
      const stored = { table: "outgoing", column: "seq", key: seq, text: row["value"] };
      const value = this.#tables.read(stored, () => this.#schema);
      return value === undefined ? [] : [{ seq, value: value as Value }]; // by the schema
    });
  }

  get length(): number {
    const query = "SELECT COUNT(*) AS rows FROM outgoing WHERE outbox = ?";
    return Number(this.#exec(query, this.#name)[0]?.["rows"] ?? 0);
  }

  /** Time of the next delivery; null if no row is waiting. */
  dueAt(now: EpochMs): EpochMs | null {
    if (this.length === 0) return null;
    return isRecent(this.#failedAt, RETRY_MS, now) ? this.#failedAt + RETRY_MS : now;
  }

  /** Sends all rows, or stops at the first failure. Never throws. */
  async drain({ send, sent, deadlineMs, now, log }: Delivery<Value>): Promise<void> {
    // A promise of D1 may never settle, and the alarm must not wait for it.
    const inTime = (work: Promise<unknown>) => withDeadline("D1", deadlineMs, work);
    for (let at = now(); at >= (this.dueAt(at) ?? Infinity); at = now()) {
      const batch = this.rows(ROWS_PER_CALL);
      if (batch.length === 0) continue; // none of them could be read
      try {
        await inTime(send(batch));
        this.#delete(batch.at(-1)?.seq ?? 0);
        if (sent !== undefined) await inTime(sent(batch));
      } catch (cause) {
        this.#failedAt = now();
        log("warn", `${this.#name}_unreachable`, describeError(cause));
      }
    }
  }

  #delete(throughSeq: number): void {
    this.#exec("DELETE FROM outgoing WHERE outbox = ? AND seq <= ?", this.#name, throughSeq);
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#tables.exec(query, ...bindings);
  }
}
