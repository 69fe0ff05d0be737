import type { TableStorage } from "./table-storage.ts";

/** Single values by name, as JSON in a table of a Durable Object. Every method is synchronous. */
export class FactTable<Values extends object> {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    );
  }

  /** Returns a value; null if it was never set. */
  get<N extends string & keyof Values>(name: N): Values[N] | null {
    const rows = this.#storage.sql.exec("SELECT value FROM facts WHERE name = ?", name).toArray();
    return rows[0] === undefined ? null : JSON.parse(String(rows[0]["value"])); // only `set` writes
  }

  /** Sets a value; null deletes it. */
  set<N extends string & keyof Values>(name: N, value: Values[N] | null): void {
    const { sql } = this.#storage;
    if (value === null) sql.exec("DELETE FROM facts WHERE name = ?", name);
    else {
      const text = JSON.stringify(value);
      sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, text);
    }
  }

  /** Returns the values whose names begin with a prefix. */
  startingWith<N extends string & keyof Values>(prefix: string): Values[N][] {
    return this.#storage.sql
      .exec("SELECT value FROM facts WHERE substr(name, 1, ?) = ?", prefix.length, prefix)
      .toArray()
      .map(({ value }) => JSON.parse(String(value)));
  }
}
