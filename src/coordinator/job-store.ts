import type { SqlRow, TableStorage } from "../storage/tables.ts";
import { isOpen, type JobRecord } from "./job-record.ts";

/** Retained number of ended jobs of each work. */
const ENDED_JOBS_KEPT = 100;

/** The table of all jobs. Every method is synchronous; a caller groups them in a transaction. */
export class JobStore {
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.#exec(
      `CREATE TABLE IF NOT EXISTS jobs (
        id TEXT PRIMARY KEY, work TEXT NOT NULL, is_open INTEGER NOT NULL, key TEXT, record TEXT NOT NULL
      )`,
    );
    this.#exec("CREATE INDEX IF NOT EXISTS jobs_by_work ON jobs (work, is_open, id)");
    this.#exec("CREATE INDEX IF NOT EXISTS jobs_by_key ON jobs (key)");
  }

  save(record: JobRecord): void {
    const { work, job, key } = record;
    this.#exec(
      "INSERT OR REPLACE INTO jobs (id, work, is_open, key, record) VALUES (?, ?, ?, ?, ?)",
      job.id,
      work,
      Number(isOpen(job.state)),
      key,
      // Nobody needs the checkpoint of an ended job, and it may be long.
      JSON.stringify(isOpen(job.state) ? record : { ...record, checkpoint: null }),
    );
    if (!isOpen(job.state)) this.#pruneEnded(work);
  }

  find(work: string, id: string): JobRecord | undefined {
    return this.#records("WHERE work = ? AND id = ?", work, id)[0];
  }

  findByKey(key: string): JobRecord | undefined {
    return this.#records("WHERE key = ? ORDER BY id DESC LIMIT 1", key)[0];
  }

  /** Lists unfinished jobs, oldest first. */
  open(): JobRecord[] {
    return this.#records("WHERE is_open = 1 ORDER BY id");
  }

  /** Lists the jobs of one work, newest first. */
  newest(work: string, limit = -1): JobRecord[] {
    return this.#records("WHERE work = ? ORDER BY id DESC LIMIT ?", work, limit);
  }

  #pruneEnded(work: string): void {
    this.#exec(
      `DELETE FROM jobs WHERE work = ? AND is_open = 0 AND id NOT IN (
        SELECT id FROM jobs WHERE work = ? AND is_open = 0 ORDER BY id DESC LIMIT ?
      )`,
      work,
      work,
      ENDED_JOBS_KEPT,
    );
  }

  #records(where: string, ...bindings: (string | number)[]): JobRecord[] {
    return this.#exec(`SELECT record FROM jobs ${where}`, ...bindings).map(
      (row) => JSON.parse(String(row["record"])), // only `save` writes them
    );
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
