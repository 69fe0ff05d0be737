import type { SqlRow, TableStorage } from "../storage/json-table.ts";
import type { Part, StoredObject } from "./format.ts";
import type { KeptBackup } from "./retention.ts";

/** A stored file of the catalog that a job copies. */
export interface Wanted {
  readonly sha256: string;
  readonly kind: "blob" | "source";
}

/**
 * The lists of a job, sorted by key. They may exceed the limit of a row in the Durable Object's
 * SQLite (2 MB).
 */
interface ItemLists {
  /** Files that a restore writes to the catalog's stores, by SHA-256. */
  readonly to_store: Wanted;
  /** Files that a backup copies, and those that it has copied, by SHA-256. */
  readonly to_copy: Wanted;
  readonly copied: StoredObject;
  /** Files that no store had, by SHA-256. */
  readonly missing: string;
  /** Written parts of a backup, by name. */
  readonly parts: Part;
  /** Complete backups that retention has read, by id. */
  readonly looked_at: KeptBackup;
  /** Objects of these backups, by SHA-256. */
  readonly named: null;
}
type ItemList = keyof ItemLists;

/** An entry of a list. */
export type Item = {
  readonly [L in ItemList]: {
    readonly list: L;
    readonly key: string;
    readonly value: ItemLists[L];
  };
}[ItemList];

/** The lists of one job. */
export interface ItemReader {
  /** Lists at most `limit` items with keys above `after`. */
  page<L extends ItemList>(list: L, after: string, limit: number): ItemLists[L][];
  all<L extends ItemList>(list: L): ItemLists[L][];
  has(list: ItemList, key: string): boolean;
  count(list: ItemList): number;
}

/** The table of all lists. Every method is synchronous. */
export class JobItems {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.#exec(
      `CREATE TABLE IF NOT EXISTS job_items (
        job TEXT NOT NULL, list TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (job, list, key)
      ) WITHOUT ROWID`,
    );
  }

  /** Adds items. An item whose key exists stays as it is. */
  add(job: string, items: readonly Item[]): void {
    for (const { list, key, value } of items)
      this.#exec(
        "INSERT OR IGNORE INTO job_items (job, list, key, value) VALUES (?, ?, ?, ?)",
        job,
        list,
        key,
        JSON.stringify(value),
      );
  }

  forget(job: string): void {
    this.#exec("DELETE FROM job_items WHERE job = ?", job);
  }

  of(job: string): ItemReader {
    const own = "FROM job_items WHERE job = ? AND list = ?";
    const values = (rows: readonly SqlRow[]) => rows.map(({ value }) => JSON.parse(String(value))); // only `add` writes them
    return {
      page: (list, after, limit) =>
        values(
          this.#exec(
            `SELECT value ${own} AND key > ? ORDER BY key LIMIT ?`,
            job,
            list,
            after,
            limit,
          ),
        ),
      all: (list) => values(this.#exec(`SELECT value ${own} ORDER BY key`, job, list)),
      has: (list, key) => this.#exec(`SELECT 1 ${own} AND key = ?`, job, list, key).length > 0,
      count: (list) =>
        Number(this.#exec(`SELECT COUNT(*) AS items ${own}`, job, list)[0]?.["items"]),
    };
  }

  #exec(query: string, ...bindings: (string | number)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
