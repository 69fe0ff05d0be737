import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

const fieldOfRun = (name: string) =>
  text(name).generatedAlwaysAs(sql.raw(`json_extract(run, '$.${name}')`), { mode: "virtual" });

/**
 * Summarised history of ingest runs: each run as JSON, as the API answers it. Its fields that are
 * filtered by are columns too, which SQLite computes. Times are RFC 3339 text in UTC with
 * milliseconds, which sorts by time; ids are UUIDv7, which do as well. `seq` is the coordinator's
 * number of the change that a row shows: a row is only ever replaced by a later one.
 */
export const ingestRuns = sqliteTable(
  "ingest_runs",
  {
    id: text().primaryKey(),
    seq: integer().notNull(),
    run: text({ mode: "json" }).notNull(),
    state: fieldOfRun("state"),
    outcome: fieldOfRun("outcome"),
    trigger: fieldOfRun("trigger"),
    mode: fieldOfRun("mode"),
    source: fieldOfRun("source"),
    requested_by: fieldOfRun("requested_by"),
    queued_at: fieldOfRun("queued_at"),
    finished_at: fieldOfRun("finished_at"),
  },
  (table) => [
    index("ingest_runs_by_state").on(table.state, table.id),
    index("ingest_runs_by_outcome").on(table.outcome, table.id),
    index("ingest_runs_by_trigger").on(table.trigger, table.id),
    index("ingest_runs_by_time").on(table.queued_at),
  ],
);

export { auditEntries } from "./audit-schema.ts";
export { alertFindings, alertRuns, alertStates } from "./alert-schema.ts";
