/** The SQLite part of Durable Object storage; every call is synchronous. */
export interface TableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): SqlRow[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type SqlRow = { readonly [column: string]: unknown };

/** JSON values by key in a table of a Durable Object. Every method is synchronous. */
export class JsonTable<Rows extends object> {
  readonly #storage: TableStorage;
  readonly #name: string;

  /** @param name of the table, an identifier of SQL. */
  constructor(storage: TableStorage, name: string) {
    this.#storage = storage;
    this.#name = name;
    this.#exec(`CREATE TABLE IF NOT EXISTS ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL)`);
  }

  /** Returns a value; null if it was never set. */
  get<Key extends string & keyof Rows>(key: Key): Rows[Key] | null {
    const [row] = this.#exec(`SELECT value FROM ${this.#name} WHERE key = ?`, key);
    return row === undefined ? null : JSON.parse(String(row["value"])); // only `set` writes
  }

  /** Sets a value; null deletes it. */
  set<Key extends string & keyof Rows>(key: Key, value: Rows[Key] | null): void {
    if (value === null) this.#exec(`DELETE FROM ${this.#name} WHERE key = ?`, key);
    else {
      const text = JSON.stringify(value);
      this.#exec(`INSERT OR REPLACE INTO ${this.#name} (key, value) VALUES (?, ?)`, key, text);
    }
  }

  /** Lists the entries whose keys begin with a prefix, in order of their keys. */
  entries<Key extends string & keyof Rows>(prefix = ""): [key: Key, value: Rows[Key]][] {
    const query = `SELECT key, value FROM ${this.#name} WHERE substr(key, 1, ?) = ? ORDER BY key`;
    return this.#exec(query, prefix.length, prefix).map(({ key, value }) => [
      String(key) as Key, // only `set` writes
      JSON.parse(String(value)),
    ]);
  }

  /** Deletes all entries. */
  clear(): void {
    this.#exec(`DELETE FROM ${this.#name}`);
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
