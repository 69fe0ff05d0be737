import { decodeCursor, encodeCursor } from "../../src/storage/cursor.ts";
import type { History } from "../../src/ingest/history.ts";
import { type Run, toListed } from "../../src/ingest/run.ts";

/** The run history in memory, filtered by state only; it refuses while D1 is down. */
export class MemoryRunHistory implements History {
  readonly rows = new Map<string, Run>();
  isDown = false;

  add(run: Run): void {
    this.rows.set(run.id, run);
  }

  async saveRuns(): Promise<void> {
    throw new Error("the routes write no runs");
  }

  async endLostRuns(): Promise<number> {
    throw new Error("the routes end no runs");
  }

  async deleteOldRuns(): Promise<number> {
    throw new Error("the routes delete no runs");
  }

  async listRuns({ limit, cursor, state }: Parameters<History["listRuns"]>[0]) {
    this.#reach();
    const matching = [...this.rows.values()]
      .filter((row) => state === undefined || row.state === state)
      .toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    if (after?.ok === false) return after;
    const older = matching.filter(({ id }) => after === undefined || id < after.id);
    const runs = older.slice(0, limit).map(toListed);
    const last = older.length > limit ? runs.at(-1) : undefined;
    const nextCursor = last === undefined ? null : encodeCursor(last.id);
    return { ok: true as const, runs, nextCursor, total: matching.length };
  }

  async findRun(id: string): Promise<Run | null> {
    this.#reach();
    return this.rows.get(id) ?? null;
  }

  async matching(ids: readonly string[], { state }: { readonly state?: string | undefined }) {
    this.#reach();
    const found = ids.filter((id) => {
      const row = this.rows.get(id);
      return row !== undefined && (state === undefined || row.state === state);
    });
    return new Set(found);
  }

  #reach(): void {
    if (this.isDown) throw new Error("D1_ERROR");
  }
}
