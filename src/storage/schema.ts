import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * History of ingest runs. Times are RFC 3339 text in UTC with milliseconds; ids are UUIDv7. Both
 * sort by time. `seq` is the coordinator's number of a change: only a later change replaces a row.
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
    requestedBy: text("requested_by").notNull(),
    note: text(),
    /** 1 plus the retries of a failed run; `parent_run_id` is the failed run. */
    attempt: integer().notNull(),
    parentRunId: text("parent_run_id"),
    /** Run whose archived upstream files this run uses. */
    candidateOf: text("candidate_of"),
    /** Number of repeated steps within the run. */
    retries: integer().notNull(),
    queuedAt: text("queued_at").notNull(),
    startedAt: text("started_at"),
    heartbeatAt: text("heartbeat_at"),
    finishedAt: text("finished_at"),
    durationMs: integer("duration_ms"),
    stage: text(),
    progress: text({ mode: "json" }).notNull(),
    skippedReason: text("skipped_reason"),
    /** Number of ticks that a `skipped` row stands for. */
    skipCount: integer("skip_count").notNull(),
    upstream: text({ mode: "json" }).notNull(),
    counts: text({ mode: "json" }),
    /** The first changes to the published version; several kilobytes, so lists leave it out. */
    changes: text({ mode: "json" }),
    /** The first rejected rows. */
    rejects: text({ mode: "json" }).notNull(),
    rejectsTotal: integer("rejects_total").notNull(),
    accounting: text({ mode: "json" }),
    generationBefore: integer("generation_before"),
    generationAfter: integer("generation_after"),
    catalogSha256: text("catalog_sha256"),
    /** Guards that tripped, including overridden ones. */
    guards: text({ mode: "json" }).notNull(),
    error: text({ mode: "json" }),
    workerVersion: text("worker_version"),
  },
  (table) => [
    index("ingest_runs_by_state").on(table.state, table.id),
    index("ingest_runs_by_outcome").on(table.outcome, table.id),
    index("ingest_runs_by_trigger").on(table.trigger, table.id),
    index("ingest_runs_by_time").on(table.queuedAt),
  ],
);

export { auditEntries } from "./audit-schema.ts";
export { alertFindings, alertRuns, alertStates } from "./alert-schema.ts";
