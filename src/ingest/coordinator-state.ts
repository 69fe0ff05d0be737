import type { Manifest } from "../catalog/manifest.ts";
import type { Checkpoint } from "./pipeline.ts";
import type { Run, RunState } from "./run.ts";

/** A run with what only the coordinator knows of it. */
export interface RunRecord {
  readonly run: Run;
  readonly checkpoint: Checkpoint;
  /** Rises with each claim of a step; a step commits only under the fence that it was given. */
  readonly fence: number;
  /** Attempts at the present step. */
  readonly attempts: number;
}

/** A row that waits to be written to D1. */
export interface OutboxRow {
  readonly seq: number;
  readonly run: Run;
}

/**
 * The coordinator's tables. Every method is synchronous; callers put what belongs together in one
 * `transaction`.
 */
export class CoordinatorState {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS runs (
        id TEXT PRIMARY KEY, state TEXT NOT NULL, run TEXT NOT NULL, checkpoint TEXT NOT NULL,
        fence INTEGER NOT NULL, attempts INTEGER NOT NULL
      );
      CREATE INDEX IF NOT EXISTS runs_by_state ON runs (state, id);
      CREATE TABLE IF NOT EXISTS versions (generation INTEGER PRIMARY KEY, manifest TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL);
    `);
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  findRun(id: string): RunRecord | undefined {
    return this.#select("WHERE id = ?", id)[0];
  }

  /** The oldest run in a state. */
  firstRun(state: RunState): RunRecord | undefined {
    return this.#select("WHERE state = ? ORDER BY id LIMIT 1", state)[0];
  }

  /** All runs in a state, oldest first. */
  runsIn(state: RunState): RunRecord[] {
    return this.#select("WHERE state = ? ORDER BY id", state);
  }

  /** Saves a run, and queues its row for D1 when people would see a difference. */
  saveRun(record: RunRecord, visible: boolean): void {
    const { run, checkpoint, fence, attempts } = record;
    const text = JSON.stringify(run);
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO runs (id, state, run, checkpoint, fence, attempts) VALUES (?, ?, ?, ?, ?, ?)",
      run.id,
      run.state,
      text,
      JSON.stringify(checkpoint),
      fence,
      attempts,
    );
    if (visible) this.#storage.sql.exec("INSERT INTO outbox (run) VALUES (?)", text);
  }

  /** The version published last. */
  currentVersion(): Manifest | null {
    const row = this.#storage.sql
      .exec<{ manifest: string }>("SELECT manifest FROM versions ORDER BY generation DESC LIMIT 1")
      .toArray()[0];
    return row === undefined ? null : JSON.parse(row.manifest);
  }

  /** Records a version; the generation is the primary key, so that none is given out twice. */
  addVersion(manifest: Manifest): void {
    this.#storage.sql.exec(
      "INSERT INTO versions (generation, manifest) VALUES (?, ?)",
      manifest.generation,
      JSON.stringify(manifest),
    );
  }

  /** Rows for D1, oldest first. */
  outbox(limit: number): OutboxRow[] {
    return this.#storage.sql
      .exec<{ seq: number; run: string }>("SELECT seq, run FROM outbox ORDER BY seq LIMIT ?", limit)
      .toArray()
      .map(({ seq, run }) => ({ seq, run: JSON.parse(run) }));
  }

  /** Forgets rows that have reached D1. */
  trimOutbox(throughSeq: number): void {
    this.#storage.sql.exec("DELETE FROM outbox WHERE seq <= ?", throughSeq);
  }

  #select(where: string, ...bindings: string[]): RunRecord[] {
    return this.#storage.sql
      .exec<{ run: string; checkpoint: string; fence: number; attempts: number }>(
        `SELECT run, checkpoint, fence, attempts FROM runs ${where}`,
        ...bindings,
      )
      .toArray()
      .map(({ run, checkpoint, fence, attempts }) => ({
        run: JSON.parse(run),
        checkpoint: JSON.parse(checkpoint),
        fence,
        attempts,
      }));
  }
}
