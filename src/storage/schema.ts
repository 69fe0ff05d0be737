import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Summarised history of ingest runs. Times are RFC 3339 text in UTC, which sorts by time.
 * `seq` is the coordinator's number of the change that a row shows: a row is only ever replaced
 * by a later one.
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
    requestedBy: text("requested_by").notNull(),
    note: text(),
    retries: integer().notNull(),
    queuedAt: text("queued_at").notNull(),
    startedAt: text("started_at"),
    heartbeatAt: text("heartbeat_at"),
    finishedAt: text("finished_at"),
    stage: text(),
    progress: text({ mode: "json" }).notNull(),
    sources: text({ mode: "json" }).notNull(),
    accounting: text({ mode: "json" }),
    generationBefore: integer("generation_before"),
    generationAfter: integer("generation_after"),
    catalogSha256: text("catalog_sha256"),
    error: text({ mode: "json" }),
  },
  (table) => [index("ingest_runs_by_state").on(table.state, table.id)],
);
