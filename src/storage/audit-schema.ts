import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * What operators changed or tried to change. Times are RFC 3339 text in UTC with milliseconds; ids
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
    /** The id or generation that was acted on. */
    target: text(),
    /** `done`, `refused` (nothing changed), or `failed` (nobody knows). */
    outcome: text().notNull(),
    /** Status of the HTTP answer. */
    status: integer().notNull(),
    /** Code of the problem that was answered. */
    code: text(),
    detail: text(),
    /** The body of the request, as far as it was understood. */
    request: text({ mode: "json" }),
    before: text({ mode: "json" }),
    after: text({ mode: "json" }),
    requestId: text("request_id").notNull(),
  },
  (table) => [
    index("audit_by_actor").on(table.actor, table.id),
    index("audit_by_action").on(table.action, table.id),
    index("audit_by_time").on(table.at),
  ],
);
