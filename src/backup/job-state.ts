import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import { type Checkpoint, isOpenJob, type Job } from "./job.ts";
import { JobItems } from "./job-items.ts";

/** A job with what only the coordinator knows of it. Times are milliseconds since 1970. */
export interface JobRecord {
  readonly job: Job;
  /** What the job was asked for, so that asking again finds it; null for a request by hand. */
  readonly key: string | null;
  readonly checkpoint: Checkpoint;
  /** Rises with each claim of a step; a step commits only under the fence that it was given. */
  readonly fence: number;
  /** Attempts at the present step. */
  readonly attempts: number;
  /** When the present step may be tried again; null for at once. */
  readonly notBefore: number | null;
}

/** Ended jobs that are remembered. */
export const ENDED_JOBS_KEPT = 100;

/**
 * The coordinator's tables. Every method is synchronous; callers put what belongs together in one
 * `transaction`.
 */
export class JobState {
  /** Of jobs that are open. */
  readonly items: JobItems;
  readonly #storage: TableStorage;

  constructor(storage: TableStorage) {
    this.#storage = storage;
    this.items = new JobItems(storage);
    this.#exec(
      `CREATE TABLE IF NOT EXISTS jobs (
        id TEXT PRIMARY KEY, is_open INTEGER NOT NULL, key TEXT, record TEXT NOT NULL
      )`,
    );
    this.#exec("CREATE INDEX IF NOT EXISTS jobs_by_key ON jobs (key)");
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  save(record: JobRecord): void {
    const { job, key } = record;
    this.#exec(
      "INSERT OR REPLACE INTO jobs (id, is_open, key, record) VALUES (?, ?, ?, ?)",
      job.id,
      Number(isOpenJob(job)),
      key,
      JSON.stringify(record),
    );
    if (isOpenJob(job)) return;
    this.items.forget(job.id);
    this.#forgetEnded();
  }

  find(id: string): JobRecord | undefined {
    return this.#records("WHERE id = ?", id)[0];
  }

  findByKey(key: string): JobRecord | undefined {
    return this.#records("WHERE key = ? ORDER BY id DESC LIMIT 1", key)[0];
  }

  /** Jobs that may still change, oldest first; the first of them is the one under way. */
  open(): JobRecord[] {
    return this.#records("WHERE is_open = 1 ORDER BY id");
  }

  /** Jobs, the newest first. */
  newest(limit: number): JobRecord[] {
    return this.#records("ORDER BY id DESC LIMIT ?", limit);
  }

  #forgetEnded(): void {
    this.#exec(
      `DELETE FROM jobs WHERE is_open = 0 AND id NOT IN (
        SELECT id FROM jobs WHERE is_open = 0 ORDER BY id DESC LIMIT ?
      )`,
      ENDED_JOBS_KEPT,
    );
  }

  #records(where: string, ...bindings: (string | number)[]): JobRecord[] {
    return this.#exec(`SELECT record FROM jobs ${where}`, ...bindings).map((row) =>
      JSON.parse(String(row["record"])),
    );
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
