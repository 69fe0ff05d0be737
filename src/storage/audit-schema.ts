import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Changes and attempted changes by operators. Times are RFC 3339 text in UTC with milliseconds; ids
 * are UUIDv7, which sort by time.
 */
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
