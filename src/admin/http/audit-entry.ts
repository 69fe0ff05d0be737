import type { Context } from "hono";
import { v7 } from "uuid";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { timeText } from "../../storage/time-text.ts";
import type { Actor, Http } from "./http.ts";

/** Records what operators change. Never rejects. */
export type RecordChange = (entry: AuditEntry) => Promise<void>;

/** An attempt to change something, at a time in milliseconds since 1970. */
interface Attempt {
  readonly action: string;
  readonly actor: Actor;
  readonly at: number;
}

/** The audit entry of an answered attempt. Its target is the answer's, or else the `id` in the path. */
export function auditEntry(c: Context<Http>, { action, actor, at }: Attempt): AuditEntry {
  const { change, input, problem, requestId } = c.var;
  const id = input?.params["id"];
  const refused = c.error === undefined ? "refused" : "failed";
  return {
    id: v7(),
    at: timeText(at),
    actor: actor.id,
    action,
    target: change?.target ?? (typeof id === "string" ? id : null),
    outcome: problem === undefined ? "done" : refused,
    status: c.res.status,
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    request: input?.body ?? null,
    before: change?.before ?? null,
    after: change?.after ?? null,
    requestId,
  };
}
