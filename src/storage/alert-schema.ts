import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * History of alert evaluations. Times are RFC 3339 text in UTC with milliseconds; ids are UUIDv7.
 * Both sort by time.
 */
export const alertRuns = sqliteTable(
  "alert_runs",
  {
    id: text().primaryKey(),
    trigger: text().notNull(),
    requested_by: text("requested_by").notNull(),
    started_at: text("started_at").notNull(),
    /** Null if the evaluation was interrupted. */
    finished_at: text("finished_at"),
    duration_ms: integer("duration_ms"),
    worst: text().notNull(),
    rules_total: integer("rules_total").notNull(),
    pending: integer().notNull(),
    firing: integer().notNull(),
    fired: integer().notNull(),
    resolved: integer().notNull(),
    nodata: integer().notNull(),
    suppressed: integer().notNull(),
    notified: integer().notNull(),
    notify_failed: integer("notify_failed").notNull(),
    changed: integer({ mode: "boolean" }).notNull(),
    results: text({ mode: "json" }).notNull(),
    /** The receipt of each message. */
    deliveries: text({ mode: "json" }).notNull(),
    ping: text(),
    worker_version: text("worker_version"),
  },
  (table) => [
    index("alert_runs_by_worst").on(table.worst, table.id),
    index("alert_runs_by_changed").on(table.changed, table.id),
    index("alert_runs_by_time").on(table.started_at),
  ],
);

/** Index for filters: the rules that were not inactive at an evaluation, with their states. */
export const alertFindings = sqliteTable(
  "alert_findings",
  {
    runId: text("run_id").notNull(),
    fingerprint: text().notNull(),
    rule: text().notNull(),
    state: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.fingerprint] }),
    index("alert_findings_by_rule").on(table.rule, table.state, table.runId),
    index("alert_findings_by_state").on(table.state, table.runId),
  ],
);

/** State of each alert at the newest saved evaluation. */
export const alertStates = sqliteTable("alert_states", {
  fingerprint: text().primaryKey(),
  rule: text().notNull(),
  labels: text({ mode: "json" }).notNull(),
  severity: text().notNull(),
  state: text().notNull(),
  since: text().notNull(),
  value: real(),
  threshold: real().notNull(),
  unit: text().notNull(),
  message: text().notNull(),
  evidence: text({ mode: "json" }).notNull(),
  suppressed: integer({ mode: "boolean" }).notNull(),
  /** The newest saved evaluation. */
  runId: text("run_id").notNull(),
});
