import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import type { Part, StoredObject } from "./format.ts";
import type { KeptBackup } from "./retention.ts";

/** Something that the catalog's stores have, to be copied from one place to another. */
export interface Wanted {
  readonly sha256: string;
  readonly kind: "blob" | "source";
}

/**
 * Lists of a job that may grow beyond what one row of a Durable Object's SQLite takes (2 MB), and
 * what is in them. Each is in the order of its keys.
 */
export interface ItemLists {
  /** What a restore has to write to the catalog's stores, by SHA-256. */
  readonly to_store: Wanted;
  /** What a backup has to copy, and what it has copied, by SHA-256. */
  readonly to_copy: Wanted;
  readonly copied: StoredObject;
  /** What no store had, by SHA-256. */
  readonly missing: string;
  /** Parts of a backup that have been written, by name. */
  readonly parts: Part;
  /** Whole backups that retention has looked at, by id. */
  readonly looked_at: KeptBackup;
  /** Objects that these name, by SHA-256. */
  readonly named: null;
}
export type ItemList = keyof ItemLists;

/** An entry of one of the lists. */
export type Item = {
  readonly [L in ItemList]: {
    readonly list: L;
    readonly key: string;
    readonly value: ItemLists[L];
  };
}[ItemList];

/** The lists of one job. */
export interface ItemReader {
  /** At most `limit` items whose keys come after `after`. */
  page<L extends ItemList>(list: L, after: string, limit: number): ItemLists[L][];
  all<L extends ItemList>(list: L): ItemLists[L][];
  has(list: ItemList, key: string): boolean;
  count(list: ItemList): number;
}

/** The table of these lists. Every method is synchronous. */
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

  /** Adds items; one whose key is there already stays as it is. */
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
