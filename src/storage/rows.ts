/** Reads pages of the tables of D1, and spares their newest rows from retention. */
import { and, count, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { timeText, CLOCK_SKEW_MS } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";
import { decodeCursor, encodeCursor, MAX_PAGE_ROWS, type PageOf, type PageQuery } from "./page.ts";

interface RowQuery<C> extends PageQuery {
  readonly matching: readonly (SQL | undefined)[];
  readonly columns: C;
}

interface Columns extends Record<string, SQLiteColumn | SQL> {
  readonly id: SQLiteColumn;
}

/**
 * Reads one page of the rows that match all conditions. The table's ids must be UUIDv7. Throws
 * RangeError if `limit` is out of range, and any error of D1.
 *
 * @param nameRows puts the rows into the page.
 */
export async function readPage<C extends Columns, Rows>(
  db: DrizzleD1Database,
  table: SQLiteTable & { readonly id: SQLiteColumn },
  { limit, cursor, matching, columns }: RowQuery<C>,
  nameRows: (rows: readonly SelectResultFields<C>[]) => Rows,
): Promise<PageOf<Rows>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_ROWS)
    throw new RangeError(`a page of ${limit} rows`);
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  if (after?.ok === false) return after;
  const older = after === undefined ? undefined : lt(table.id, after.id);
  const [found, totals] = await db.batch([
    db
      .select<Columns>(columns) // drizzle cannot infer a selection that is generic
      .from<SQLiteTable>(table)
      .where(and(...matching, older))
      .orderBy(desc(table.id))
      .limit(limit + 1),
    db
      .select({ total: count() })
      .from<SQLiteTable>(table)
      .where(and(...matching)),
  ]);
  const rows = found.slice(0, limit) as SelectResultFields<C>[]; // of these columns
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    ok: true,
    ...nameRows(rows),
    nextCursor: last === undefined ? null : encodeCursor(String(last["id"])),
    total: totals[0]?.total ?? 0,
  };
}

/** Matches a value, or every row if it is undefined. */
export function equal<C extends SQLiteColumn>(
  column: C,
  value: C["_"]["data"] | undefined,
): SQL | undefined {
  return value === undefined ? undefined : eq(column, value);
}

/** Matches the times from `sinceMs` on and before `untilMs`. */
export function within(
  column: SQLiteColumn,
  sinceMs: EpochMs | undefined,
  untilMs: EpochMs | undefined,
): (SQL | undefined)[] {
  return [
    sinceMs === undefined ? undefined : gte(column, timeText(sinceMs)),
    untilMs === undefined ? undefined : lt(column, timeText(untilMs)),
  ];
}

/** Rows that retention never deletes, whatever their age: a wrong clock must not erase the history. */
export const NEWEST_KEPT = 1_000;

/**
 * Matches the rows older than the newest `NEWEST_KEPT`. Rows dated in the future do not count, and stay
 * until their time has come. The table's ids must be UUIDv7.
 */
export function exceptNewest(
  db: DrizzleD1Database,
  table: SQLiteTable & { readonly id: SQLiteColumn },
  now: EpochMs,
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

/** Returns a text above every UUIDv7 of an earlier time. */
function firstIdAt(time: EpochMs): string {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
