import type { NumberedDecision } from "../ingest/checkpoint.ts";
import type { Decision } from "../acceptance/held-change.ts";
import type { TableStorage } from "../storage/tables.ts";

/** Most decisions that are kept: twice as many as there are airports. */
const DECISIONS_MAX = 20_000;

/**
 * What operators have decided about held changes, the latest about each: approvals until a run has
 * followed them, rejections for good, since a rollback brings back a ledger without them.
 */
export class DecisionTable {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS decisions (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, decision TEXT NOT NULL)",
    );
  }

  /** Adds decisions. A later one about a change replaces an earlier one. */
  add(decisions: readonly Decision[]): void {
    const { sql } = this.#storage;
    for (const decision of decisions)
      sql.exec(
        "INSERT OR REPLACE INTO decisions (id, decision) VALUES (?, ?)",
        decision.id,
        JSON.stringify(decision),
      );
    sql.exec(
      "DELETE FROM decisions WHERE seq NOT IN (SELECT seq FROM decisions ORDER BY seq DESC LIMIT ?)",
      DECISIONS_MAX,
    );
  }

  /** Lists the decisions, oldest first. */
  list(): NumberedDecision[] {
    const rows = this.#storage.sql.exec("SELECT seq, decision FROM decisions ORDER BY seq");
    return rows.toArray().map(({ seq, decision }) => ({
      ...(JSON.parse(String(decision)) as Decision), // only `add` writes rows
      seq: Number(seq),
    }));
  }

  /** Deletes the approvals up to this number. */
  deleteApproved(through: number): void {
    this.#storage.sql.exec(
      "DELETE FROM decisions WHERE seq <= ? AND decision ->> '$.verdict' = 'approved'",
      through,
    );
  }
}
