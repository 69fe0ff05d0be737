import { and, eq, inArray, lt, not, notInArray, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { exceptNewest } from "./rows.ts";
import type { PageOf, PageQuery } from "./page.ts";
import { equal, readPage, within } from "./rows.ts";
import { ingestRuns } from "./schema.ts";
import { DAY_MS, timeText } from "../platform/time.ts";
import { misfitOf } from "../platform/parse-json.ts";
import type { EpochMs } from "../platform/units.ts";
import { type ListedRun, type Run, runDetailsSchema, runSchema } from "../schemas/run.ts";

/** A run at the change `seq` of the coordinator's outbox. */
export interface HistoryRow {
  readonly seq: number;
  readonly run: Run;
}

export interface RunFilter {
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly trigger?: string | undefined;
  /** Earliest `queued_at`, inclusive. */
  readonly sinceMs?: EpochMs | undefined;
  /** Latest `queued_at`, exclusive. */
  readonly untilMs?: EpochMs | undefined;
}

export interface RunQuery extends RunFilter, PageQuery {}

type RunPage = PageOf<{ readonly runs: readonly ListedRun[] }>;

/** A run that ended within this time is never deleted. */
const RUN_RETENTION_MS = 90 * DAY_MS;
const ACTIVE_STATES = ["queued", "running"];

/** A run without its changes, as lists show it. */
const listedRun = sql`json_remove(${ingestRuns.run}, '$.changes')`.mapWith(ingestRuns.run);

export type History = ReturnType<typeof createHistory>;

/** Runs in D1, for people. Every method throws if D1 fails, and every write is idempotent. */
export function createHistory(d1: D1Database) {
  const db = drizzle(d1);
  return {
    /**
     * Saves rows in one transaction. Of two rows of a run, the one with its end wins, or else the one
     * with the higher `seq`.
     */
    async saveRuns(rows: readonly HistoryRow[]): Promise<void> {
      const upserts = rows.map(({ seq, run }) =>
        db
          .insert(ingestRuns)
          .values({ id: run.id, seq, run })
          .onConflictDoUpdate({
            target: ingestRuns.id,
            set: { seq: sql`excluded.seq`, run: sql`excluded.run` },
            setWhere: sql`excluded.seq > ${ingestRuns.seq} OR ${ingestRuns.state} IN ${ACTIVE_STATES} AND excluded.state NOT IN ${ACTIVE_STATES}`,
          }),
      );
      const [first, ...rest] = upserts;
      if (first !== undefined) await db.batch([first, ...rest]);
    },

    /** Lists a page of runs, without some ids. Throws RangeError if `limit` is out of range. */
    async listRuns(
      { limit, cursor, ...filter }: RunQuery,
      except: readonly string[] = [],
    ): Promise<RunPage> {
      const matching = [...conditions(filter), not(isAmong(except))];
      const columns = { id: ingestRuns.id, run: listedRun };
      // A restored backup may contain rows that are no runs.
      return readPage(db, ingestRuns, { limit, cursor, matching, columns }, (rows) => ({
        runs: rows.flatMap(({ run }) => (misfitOf(run, runSchema) === null ? [run] : [])),
      }));
    },

    async findRun(id: string): Promise<Run | null> {
      const found = await db
        .select({ run: ingestRuns.run })
        .from(ingestRuns)
        .where(eq(ingestRuns.id, id))
        .get();
      return found && misfitOf(found.run, runDetailsSchema) === null ? found.run : null;
    },

    /** Returns which of these runs have no row in D1. */
    async missing(ids: readonly string[]): Promise<string[]> {
      const rows = await db.all<{ id: string }>(
        sql`SELECT value AS id FROM json_each(${JSON.stringify(ids)}) WHERE value NOT IN (SELECT ${ingestRuns.id} FROM ${ingestRuns})`,
      );
      return rows.map(({ id }) => id);
    },

    /**
     * Marks unfinished rows that the coordinator does not know as failed with `lost`.
     *
     * @param open ids of the runs that the coordinator has open.
     * @returns the number of changed rows.
     */
    async endLostRuns(open: readonly string[], now: EpochMs): Promise<number> {
      const message = "the coordinator does not know this run: only its row in D1 is left";
      const end = {
        state: "failed",
        finished_at: timeText(now),
        error: { code: "lost", stage: "fetch", message },
      } satisfies Partial<Run>;
      const { meta } = await db
        .update(ingestRuns)
        .set({ run: sql`json_patch(${ingestRuns.run}, ${JSON.stringify(end)})` })
        .where(and(inArray(ingestRuns.state, ACTIVE_STATES), not(isAmong(open))))
        .run();
      return meta.changes;
    },

    /** Deletes runs that ended more than 90 days ago, except the newest 1,000. Returns their number. */
    async deleteOldRuns(now: EpochMs): Promise<number> {
      const endedAt = sql`coalesce(${ingestRuns.finished_at}, ${ingestRuns.queued_at})`;
      const { meta } = await db
        .delete(ingestRuns)
        .where(
          and(
            exceptNewest(db, ingestRuns, now),
            lt(endedAt, timeText(now - RUN_RETENTION_MS)),
            notInArray(ingestRuns.state, ACTIVE_STATES),
          ),
        )
        .run();
      return meta.changes;
    },
  };
}

/** The fields of a run that a filter compares. */
export const FILTERED = [
  "state",
  "outcome",
  "trigger",
] as const satisfies readonly (keyof RunFilter)[];

/** One parameter, however many ids: D1 accepts 100. */
function isAmong(ids: readonly string[]): SQL {
  return sql`${ingestRuns.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

function conditions({ sinceMs, untilMs, ...wanted }: RunFilter): (SQL | undefined)[] {
  return [
    ...FILTERED.map((field) => equal(ingestRuns[field], wanted[field])),
    ...within(ingestRuns.queued_at, sinceMs, untilMs),
  ];
}
