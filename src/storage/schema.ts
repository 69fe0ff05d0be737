import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Summarised history of ingest runs. Times are RFC 3339 text in UTC with milliseconds, which sorts
 * by time; ids are UUIDv7, which do as well. `seq` is the coordinator's number of the change that a
 * row shows: a row is only ever replaced by a later one.
 */
export const ingestRuns = sqliteTable(
  "ingest_runs",
  {
    id: text().primaryKey(),
    seq: integer().notNull(),
    state: text().notNull(),
    outcome: text(),
    trigger: text().notNull(),
    mode: text().notNull(),
    source: text().notNull(),
    forced: integer({ mode: "boolean" }).notNull(),
    requested_by: text("requested_by").notNull(),
    note: text(),
    /** Rises with each run that repeats a failed one, whose id is in `parent_run_id`. */
    attempt: integer().notNull(),
    parent_run_id: text("parent_run_id"),
    /** The run whose archived upstream files this one works from. */
    candidate_of: text("candidate_of"),
    /** Steps begun again within the run. */
    retries: integer().notNull(),
    queued_at: text("queued_at").notNull(),
    started_at: text("started_at"),
    heartbeat_at: text("heartbeat_at"),
    finished_at: text("finished_at"),
    duration_ms: integer("duration_ms"),
    stage: text(),
    progress: text({ mode: "json" }).notNull(),
    skipped_reason: text("skipped_reason"),
    /** Ticks that a `skipped` row stands for. */
    skip_count: integer("skip_count").notNull(),
    upstream: text({ mode: "json" }).notNull(),
    counts: text({ mode: "json" }),
    /** The first changes to the published version: kilobytes, which lists leave out. */
    changes: text({ mode: "json" }),
    /** The first rejected rows. */
    rejects: text({ mode: "json" }).notNull(),
    rejects_total: integer("rejects_total").notNull(),
    accounting: text({ mode: "json" }),
    generation_before: integer("generation_before"),
    generation_after: integer("generation_after"),
    catalog_sha256: text("catalog_sha256"),
    /** Guards that tripped, refused or overridden. */
    guards: text({ mode: "json" }).notNull(),
    error: text({ mode: "json" }),
    workerVersion: text("worker_version"),
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
