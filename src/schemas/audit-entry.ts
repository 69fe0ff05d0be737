/** The only schema of an entry of the audit: the OpenAPI document and the page follow from it. */
import * as z from "zod";
import { DECIDED_MAX } from "./decided-change.ts";
import { type DeepReadonly, timestamp } from "./fields.ts";

export const AUDIT_OUTCOMES = ["done", "refused", "failed"] as const;

export const auditEntrySchema = z
  .strictObject({
    id: z.uuid(),
    at: timestamp,
    actor: z.string(),
    action: z.string(),
    target: z.string().nullable().meta({ description: "The id or generation acted on." }),
    outcome: z.enum(AUDIT_OUTCOMES).meta({
      description: "`refused`: nothing changed; `failed`: it is unknown whether anything changed.",
    }),
    status: z.int(),
    code: z.string().nullable(),
    detail: z.string().nullable(),
    request: z.unknown().meta({ description: "The body, if it could be read." }),
    before: z.unknown(),
    after: z.unknown().meta({
      description: `What is so since. Of a decision, \`changes\` names for each change, of many for the first ${DECIDED_MAX}, the airport and its fields before and after.`,
    }),
    request_id: z.string(),
  })
  .meta({ id: "AuditEntry", description: "An attempt by an operator to change something." });

export type ShownAuditEntry = DeepReadonly<z.output<typeof auditEntrySchema>>;
