import * as z from "zod";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { BAD_CURSOR, iataField, pageFields, pageQuery, restOf, time } from "../http/query.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { orUnavailable } from "../calls.ts";
import { AUDIT_OUTCOMES, auditEntrySchema } from "../../schemas/audit-entry.ts";

const auditQuery = z.strictObject({
  actor: z.string().max(320).optional(),
  action: z.string().max(100).optional().meta({ example: "ingest.pause" }),
  target: z.string().max(128).optional().meta({
    description: "The id or generation that was acted on, as in the entry.",
  }),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  iata: iataField.optional().meta({ description: "Decisions about this airport." }),
  since: time().optional(),
  until: time().optional(),
  ...pageQuery,
});

const auditPage = z.strictObject({
  entries: z.array(auditEntrySchema).meta({ description: "Newest first." }),
  ...pageFields,
});

export function auditRoutes({ audit }: AdminPlatform) {
  const list = route({
    method: "get",
    path: "/admin/audit",
    operationId: "listAuditEntries",
    summary: "List what operators changed or tried to change",
    description: "Requests without a valid credential appear in the log only.",
    access: "read",
    query: auditQuery,
    responses: { 200: { description: "A page of entries", body: auditPage } },
    problems: { 503: "`history_unavailable`: D1 does not answer" },
  }).answer(async ({ query }) => {
    const { since: sinceMs, until: untilMs, ...others } = query;
    const read = await orUnavailable("history", audit.list({ ...others, sinceMs, untilMs }));
    if (!read.ok) return BAD_CURSOR;
    const shown = ({ requestId, ...entry }: AuditEntry) => ({ ...entry, request_id: requestId });
    return { status: 200, body: { entries: read.entries.map(shown), ...restOf(read) } };
  });
  return [list];
}
