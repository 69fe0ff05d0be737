import { getTableColumns, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { ingestRuns } from "./schema.ts";

/** A row of `ingest_runs`. */
export type IngestRunRow = typeof ingestRuns.$inferInsert;

/** Summarised run history in D1: for people, never needed to serve or to ingest. */
export interface History {
  /**
   * Writes rows; of two rows of one run the one with the higher `seq` stays, whatever the order
   * and number of calls. Throws if D1 refuses.
   */
  saveRuns(rows: readonly IngestRunRow[]): Promise<void>;
}

export function createHistory(d1: D1Database): History {
  const db = drizzle(d1);
  return {
    async saveRuns(rows) {
      const upserts = rows.map((row) =>
        db
          .insert(ingestRuns)
          .values(row)
          .onConflictDoUpdate({
            target: ingestRuns.id,
            set: EXCLUDED_ROW,
            setWhere: sql`excluded.seq > ${ingestRuns.seq}`,
          }),
      );
      const [first, ...rest] = upserts;
      if (first !== undefined) await db.batch([first, ...rest]);
    },
  };
}

/** Every column but the key, as the row that could not be inserted has it. */
const EXCLUDED_ROW = Object.fromEntries(
  Object.entries(getTableColumns(ingestRuns))
    .filter(([name]) => name !== "id")
    .map(([name, column]) => [name, sql.raw(`excluded."${column.name}"`)]),
);
