import type { Decision } from "../acceptance/held-change.ts";
import type { TableStorage } from "../storage/table-storage.ts";

/** A decision with a number that rises with each one. */
export interface NumberedDecision extends Decision {
  readonly seq: number;
}

/** What operators have decided about held changes, until a run has followed it. */
export class DecisionTable {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS decisions (seq INTEGER PRIMARY KEY AUTOINCREMENT, decision TEXT NOT NULL)",
    );
  }

  add(decision: Decision): void {
    const text = JSON.stringify(decision);
    this.#storage.sql.exec("INSERT INTO decisions (decision) VALUES (?)", text);
  }

  /** Lists the decisions, oldest first. */
  list(): NumberedDecision[] {
    const rows = this.#storage.sql.exec("SELECT seq, decision FROM decisions ORDER BY seq");
    return rows.toArray().map(({ seq, decision }) => ({
      ...(JSON.parse(String(decision)) as Decision), // only `add` writes rows
      seq: Number(seq),
    }));
  }

  /** Deletes the decisions up to this number. */
  deleteThrough(seq: number): void {
    this.#storage.sql.exec("DELETE FROM decisions WHERE seq <= ?", seq);
  }
}
