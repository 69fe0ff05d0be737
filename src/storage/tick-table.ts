import type { TableStorage } from "./table-storage.ts";

/** Number of remembered cron ticks, so that a repeated tick counts once. */
const TICKS_KEPT = 200;
/** A tick may come a little before its time. */
const SLACK_MS = 60_000;

/** The cron ticks that a Durable Object has taken. Every method is synchronous. */
export class TickTable {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS ticks (cron TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (cron, at))",
    );
  }

  /** @param at scheduled time of the tick, in milliseconds since 1970. */
  has(cron: string, at: number): boolean {
    const query = "SELECT 1 FROM ticks WHERE cron = ? AND at = ?";
    return this.#storage.sql.exec(query, cron, at).toArray().length > 0;
  }

  /** Remembers a tick, and returns whether it is new. */
  add(cron: string, at: number): boolean {
    if (this.has(cron, at)) return false;
    const { sql } = this.#storage;
    sql.exec("INSERT INTO ticks (cron, at) VALUES (?, ?)", cron, at);
    sql.exec(
      "DELETE FROM ticks WHERE at < (SELECT MIN(at) FROM (SELECT at FROM ticks ORDER BY at DESC LIMIT ?))",
      TICKS_KEPT,
    );
    return true;
  }

  /** Returns the scheduled time of the newest tick of each cron trigger that is not in the future. */
  newest(now: number): { readonly [cron: string]: number } {
    const query = "SELECT cron, MAX(at) AS at FROM ticks WHERE at <= ? GROUP BY cron";
    const rows = this.#storage.sql.exec(query, now + SLACK_MS).toArray();
    return Object.fromEntries(rows.map((row) => [String(row["cron"]), Number(row["at"])]));
  }
}
