import { desc, lt, type SQL, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CLOCK_SKEW_MS } from "../platform/time.ts";

/** Rows that retention never deletes, whatever their age: a wrong clock must not erase the history. */
export const NEWEST_KEPT = 1_000;

/**
 * Matches the rows that are older than the newest `NEWEST_KEPT` up to now. Those ahead of now take the
 * place of no other, and stay until their time has come. The table's ids must be UUIDv7.
 */
export function exceptNewest(
  db: DrizzleD1Database,
  table: SQLiteTable & { readonly id: SQLiteColumn },
  now: number,
): SQL {
  const oldestKept = db
    .select({ id: table.id })
    .from<SQLiteTable>(table)
    .where(lt(table.id, firstIdAt(now + CLOCK_SKEW_MS)))
    .orderBy(desc(table.id))
    .limit(1)
    .offset(NEWEST_KEPT - 1);
  // With fewer rows this is null, and the condition matches nothing.
  return lt(table.id, sql`${oldestKept}`);
}

/** Returns what no UUIDv7 of an earlier time, in milliseconds since 1970, is greater than. */
function firstIdAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
