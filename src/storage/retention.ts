import { desc, lt, type SQL, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

/** Rows that retention never deletes, whatever their age: a wrong clock must not erase the history. */
export const NEWEST_KEPT = 1_000;

/** Matches all rows except the newest `NEWEST_KEPT`. The table's ids must be UUIDv7. */
export function exceptNewest(
  db: DrizzleD1Database,
  table: SQLiteTable & { readonly id: SQLiteColumn },
): SQL {
  const oldestKept = db
    .select({ id: table.id })
    .from(table)
    .orderBy(desc(table.id))
    .limit(1)
    .offset(NEWEST_KEPT - 1);
  // With fewer rows this is null, and the condition matches nothing.
  return lt(table.id, sql`${oldestKept}`);
}
