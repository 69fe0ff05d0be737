/** The tables of D1. Times and ids (UUIDv7) sort by time as text. */
import { sql } from "drizzle-orm";
import type { AlertRun } from "../schemas/alert-run.ts";
import type { Run } from "../schemas/run.ts";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

const fieldOfRun = (name: string) => sql.raw(`json_extract(run, '$.${name}')`);
const textOfRun = (name: string) =>
  text(name).generatedAlwaysAs(fieldOfRun(name), { mode: "virtual" });

/**
 * Summarized history of ingest runs: each run as JSON, as the API answers it. Its fields that are
 * filtered by are columns too, which SQLite computes. `seq` is the coordinator's number of the change
 * that a row shows. Only a later change replaces a row.
 */
export const ingestRuns = sqliteTable(
  "ingest_runs",
  {
    id: text().primaryKey(),
    seq: integer().notNull(),
    run: text({ mode: "json" }).$type<Run>().notNull(),
    state: textOfRun("state"),
    outcome: textOfRun("outcome"),
    trigger: textOfRun("trigger"),
    queued_at: textOfRun("queued_at"),
    finished_at: textOfRun("finished_at"),
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
    action: text().notNull(),
    /** Id or generation that the action changed. */
    target: text(),
    /** `done`, `refused` (nothing changed) or `failed` (the effect is unknown). */
    outcome: text({ enum: ["done", "refused", "failed"] }).notNull(),
    status: integer().notNull(),
    /** Code of the problem in the answer. */
    code: text(),
    detail: text(),
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

/** History of alert evaluations: each as JSON, as the API answers it. Its inactive alerts are left out. */
export const alertRuns = sqliteTable(
  "alert_runs",
  {
    id: text().primaryKey(),
    run: text({ mode: "json" }).$type<AlertRun>().notNull(),
    worst: textOfRun("worst"),
    changed: integer({ mode: "boolean" }).generatedAlwaysAs(fieldOfRun("changed"), {
      mode: "virtual",
    }),
    started_at: textOfRun("started_at"),
  },
  (table) => [
    index("alert_runs_by_worst").on(table.worst, table.id),
    index("alert_runs_by_changed").on(table.changed, table.id),
    index("alert_runs_by_time").on(table.started_at),
  ],
);
