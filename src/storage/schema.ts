/**
 * The tables of D1. Times are RFC 3339 text in UTC with milliseconds, and ids are UUIDv7: both sort
 * by time.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

const fieldOfRun = (name: string) =>
  text(name).generatedAlwaysAs(sql.raw(`json_extract(run, '$.${name}')`), { mode: "virtual" });

/**
 * Summarised history of ingest runs: each run as JSON, as the API answers it. Its fields that are
 * filtered by are columns too, which SQLite computes. `seq` is the coordinator's number of the change
 * that a row shows: a row is only ever replaced by a later one.
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

/** Changes and attempted changes by operators. */
export const auditEntries = sqliteTable(
  "audit",
  {
    id: text().primaryKey(),
    at: text().notNull(),
    actor: text().notNull(),
    /** Such as `ingest.pause`. */
    action: text().notNull(),
    /** Id or generation that the action changed. */
    target: text(),
    /** `done`, `refused` (nothing changed) or `failed` (the effect is unknown). */
    outcome: text({ enum: ["done", "refused", "failed"] }).notNull(),
    /** HTTP status of the answer. */
    status: integer().notNull(),
    /** Code of the problem in the answer. */
    code: text(),
    detail: text(),
    /** The parsed body of the request. */
    request: text({ mode: "json" }),
    before: text({ mode: "json" }),
    after: text({ mode: "json" }),
    requestId: text("request_id").notNull(),
  },
  (table) => [
    index("audit_by_actor").on(table.actor, table.id),
    index("audit_by_action").on(table.action, table.id),
    index("audit_by_target").on(table.target, table.id),
    index("audit_by_time").on(table.at),
  ],
);

/** History of alert evaluations. */
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
