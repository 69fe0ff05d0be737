import { and, eq, lt, or, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { exceptNewest } from "./rows.ts";
import type { PageOf, PageQuery } from "./page.ts";
import { equal, readPage, within } from "./rows.ts";
import { alertRuns } from "./schema.ts";
import { DAY_MS, timeText } from "../platform/time.ts";
import { misfitOf } from "../platform/parse-json.ts";
import type { EpochMs } from "../platform/units.ts";
import { type AlertRun, alertRunSchema } from "../schemas/alert-run.ts";

export interface AlertRunQuery extends PageQuery {
  /** An alert had this state; with `rule`, an alert of that rule. */
  readonly state?: string | undefined;
  /** The rule was not inactive. */
  readonly rule?: string | undefined;
  readonly worst?: string | undefined;
  readonly changed?: boolean | undefined;
  /** Earliest start, inclusive. */
  readonly sinceMs?: EpochMs | undefined;
  /** Latest start, exclusive. */
  readonly untilMs?: EpochMs | undefined;
}

type AlertRunPage = PageOf<{ readonly runs: readonly AlertRun[] }>;

/** Retention of evaluations without and with a change. */
const QUIET_RETENTION_MS = 30 * DAY_MS;
const CHANGED_RETENTION_MS = 365 * DAY_MS;

/** Evaluations in D1, for people. Every method throws if D1 fails, and every write is idempotent. */
export type AlertHistory = ReturnType<typeof createAlertHistory>;

export function createAlertHistory(d1: D1Database) {
  const db = drizzle(d1);

  return {
    async saveRuns(runs: readonly AlertRun[]): Promise<void> {
      const [first, ...rest] = runs.map((run) =>
        db
          .insert(alertRuns)
          .values({ id: run.id, run })
          .onConflictDoUpdate({ target: alertRuns.id, set: { run: sql`excluded.run` } }),
      );
      if (first !== undefined) await db.batch([first, ...rest]);
    },

    /** Lists one page of evaluations. Throws RangeError if `limit` is out of range. */
    async listRuns(query: AlertRunQuery): Promise<AlertRunPage> {
      const columns = { id: alertRuns.id, run: alertRuns.run };
      const matching = conditions(query);
      // A restored backup may contain rows that are no evaluations.
      return readPage(db, alertRuns, { ...query, matching, columns }, (rows) => ({
        runs: rows.flatMap(({ run }) => (misfitOf(run, alertRunSchema) === null ? [run] : [])),
      }));
    },

    async findRun(id: string): Promise<AlertRun | null> {
      const found = await db
        .select({ run: alertRuns.run })
        .from(alertRuns)
        .where(eq(alertRuns.id, id))
        .get();
      return found && misfitOf(found.run, alertRunSchema) === null ? found.run : null;
    },

    /** Deletes evaluations past their retention. Returns their number. */
    async deleteOldRuns(now: EpochMs): Promise<number> {
      const isPast = or(
        and(
          eq(alertRuns.changed, false),
          lt(alertRuns.started_at, timeText(now - QUIET_RETENTION_MS)),
        ),
        lt(alertRuns.started_at, timeText(now - CHANGED_RETENTION_MS)),
      );
      const isOld = and(exceptNewest(db, alertRuns, now), isPast);
      const { meta } = await db.delete(alertRuns).where(isOld).run();
      return meta.changes;
    },

    /** Throws if D1 fails. */
    async ping(): Promise<void> {
      await db.run(sql`SELECT 1`);
    },
  };
}

function conditions({ state, rule, worst, changed, sinceMs, untilMs }: AlertRunQuery) {
  const isWanted = and(hasField("rule", rule), hasField("state", state));
  return [
    isWanted &&
      sql`EXISTS (SELECT 1 FROM json_each(${alertRuns.run}, '$.results') WHERE ${isWanted})`,
    equal(alertRuns.worst, worst),
    equal(alertRuns.changed, changed),
    ...within(alertRuns.started_at, sinceMs, untilMs),
  ];
}

/** Matches a field of a result. A restored backup may contain results that are no objects. */
function hasField(name: "rule" | "state", value: string | undefined): SQL | undefined {
  const field = sql`CASE json_each.type WHEN 'object' THEN json_each.value ->> ${name} END`;
  return value === undefined ? undefined : sql`${field} = ${value}`;
}
