import { and, eq, getTableColumns, inArray, lt, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { alertFindings, alertRuns, alertStates } from "./schema.ts";
import { excluded } from "./excluded.ts";
import { equal, type Listed, type PageQuery, readPage, within } from "./page.ts";
import { exceptNewest } from "./retention.ts";
import { timeText } from "./time-text.ts";

export type SavedAlertRun = typeof alertRuns.$inferSelect;

type SavedAlertState = typeof alertStates.$inferSelect;

/** An evaluation to save: its row with its results. */
interface AlertRunRow extends Omit<typeof alertRuns.$inferInsert, "results"> {
  readonly results: readonly Omit<SavedAlertState, "runId">[];
}

/** Selects evaluations that match every given field. */
export interface AlertRunQuery extends PageQuery {
  /** An alert had this state; with `rule`, an alert of that rule. */
  readonly state?: string | undefined;
  /** The rule was not inactive. */
  readonly rule?: string | undefined;
  readonly worst?: string | undefined;
  readonly changed?: boolean | undefined;
  /** Earliest start, inclusive, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Latest start, exclusive, in milliseconds since 1970. */
  readonly untilMs?: number | undefined;
}

type AlertRunPage = Listed<{ readonly runs: readonly SavedAlertRun[] }>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Retention of evaluations without and with a change. */
const QUIET_RETENTION_MS = 30 * DAY_MS;
const CHANGED_RETENTION_MS = 365 * DAY_MS;
/** D1's limit of parameters in a statement. */
const MAX_PARAMETERS = 100;
/** Each finding takes four parameters. */
const FINDINGS_PER_INSERT = Math.floor(MAX_PARAMETERS / 4);

/**
 * History of alert evaluations in D1, for people. Every method throws if D1 fails, and every write
 * is idempotent.
 */
export type AlertHistory = ReturnType<typeof createAlertHistory>;

export function createAlertHistory(d1: D1Database) {
  const db = drizzle(d1);

  const saveRun = ({ results, ...row }: AlertRunRow) => [
    db
      .insert(alertRuns)
      .values({ ...row, results })
      .onConflictDoUpdate({ target: alertRuns.id, set: excluded(alertRuns, "id") }),
    db.delete(alertFindings).where(eq(alertFindings.runId, row.id)),
    ...chunks(results.filter(({ state }) => state !== "inactive")).map((chunk) =>
      db.insert(alertFindings).values(chunk.map((result) => ({ ...result, runId: row.id }))),
    ),
  ];

  /** A late repetition of an earlier evaluation leaves the states as they are. */
  const saveStates = ({ id, results }: AlertRunRow) => [
    ...results.map((result) =>
      db
        .insert(alertStates)
        .values({ ...result, runId: id })
        .onConflictDoUpdate({
          target: alertStates.fingerprint,
          set: excluded(alertStates, "fingerprint"),
          setWhere: sql`excluded.run_id >= ${alertStates.runId}`,
        }),
    ),
    db.delete(alertStates).where(lt(alertStates.runId, id)),
  ];

  return {
    /** Saves evaluations, oldest first, and the states of the newest, in one transaction. */
    async saveRuns(rows: readonly AlertRunRow[]): Promise<void> {
      const newest = rows.at(-1);
      if (newest === undefined) return;
      const [first, ...rest] = [...rows.flatMap(saveRun), ...saveStates(newest)];
      if (first !== undefined) await db.batch([first, ...rest]);
    },

    /** Lists one page of evaluations. Throws RangeError if `limit` is out of range. */
    async listRuns(query: AlertRunQuery): Promise<AlertRunPage> {
      const columns = getTableColumns(alertRuns);
      const page = await readPage(db, alertRuns, {
        ...query,
        matching: conditions(query),
        columns,
      });
      if (!page.ok) return page;
      const { rows: runs, ...rest } = page;
      return { ...rest, runs };
    },

    async findRun(id: string): Promise<SavedAlertRun | null> {
      const found = await db.select().from(alertRuns).where(eq(alertRuns.id, id)).get();
      return found ?? null;
    },

    /** Lists the state of each alert at the newest evaluation, by rule. */
    listStates(): Promise<readonly SavedAlertState[]> {
      return db.select().from(alertStates).orderBy(alertStates.rule, alertStates.fingerprint).all();
    },

    /**
     * Deletes evaluations past their retention.
     *
     * @param now milliseconds since 1970.
     * @returns the number of deleted rows.
     */
    async deleteOldRuns(now: number): Promise<number> {
      const isPast = or(
        and(
          eq(alertRuns.changed, false),
          lt(alertRuns.started_at, timeText(now - QUIET_RETENTION_MS)),
        ),
        lt(alertRuns.started_at, timeText(now - CHANGED_RETENTION_MS)),
      );
      const isOld = and(exceptNewest(db, alertRuns), isPast);
      const old = db.select({ id: alertRuns.id }).from(alertRuns).where(isOld);
      const [, deleted] = await db.batch([
        db.delete(alertFindings).where(inArray(alertFindings.runId, old)),
        db.delete(alertRuns).where(isOld),
      ]);
      return deleted.meta.changes;
    },

    /** Throws if D1 fails. */
    async ping(): Promise<void> {
      await db.run(sql`SELECT 1`);
    },
  };

  /** Builds the conditions; an index serves the filter by rule and state. */
  function conditions({ state, rule, worst, changed, sinceMs, untilMs }: AlertRunQuery) {
    const runIds = db
      .select({ id: alertFindings.runId })
      .from(alertFindings)
      .where(and(equal(alertFindings.rule, rule), equal(alertFindings.state, state)));
    return [
      state === undefined && rule === undefined ? undefined : inArray(alertRuns.id, runIds),
      equal(alertRuns.worst, worst),
      equal(alertRuns.changed, changed),
      ...within(alertRuns.started_at, sinceMs, untilMs),
    ];
  }
}

function chunks<T>(items: readonly T[]): T[][] {
  const found: T[][] = [];
  for (let at = 0; at < items.length; at += FINDINGS_PER_INSERT)
    found.push(items.slice(at, at + FINDINGS_PER_INSERT));
  return found;
}
