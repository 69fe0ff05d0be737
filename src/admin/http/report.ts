import type { Context, MiddlewareHandler } from "hono";
import { v7 } from "uuid";
import { logLine } from "../../log.ts";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { timeText } from "../../storage/time.ts";
import type { Actor, Http } from "./http.ts";
import type { RouteSpec } from "./route.ts";

/** Records in the audit what operators change. Never rejects. */
export type RecordChange = (entry: AuditEntry) => Promise<void>;

export interface ReportDependencies {
  readonly record: RecordChange;
  readonly now: () => number;
}

/** Logs an operator's request, and records it in the audit if its route changes something. */
export function report(
  spec: RouteSpec,
  { record, now }: ReportDependencies,
): MiddlewareHandler<Http> {
  return async (c, next) => {
    const began = now();
    await next();
    const { actor, problem, requestId } = c.var;
    if (actor === undefined) return;
    if (spec.access === "operate")
      await record(auditEntry(c, { action: spec.action, actor, at: now() }));
    logLine("info", "admin_request", `${spec.method} ${spec.path}`, {
      request_id: requestId,
      actor: actor.id,
      status: c.res.status,
      error_code: problem?.code,
      duration_ms: now() - began,
    });
  };
}

/** An attempt to change something, at a time in milliseconds since 1970. */
interface Attempt {
  readonly action: string;
  readonly actor: Actor;
  readonly at: number;
}

/** Most characters of a target that the audit keeps. */
const TARGET_MAX_LENGTH = 128;

/**
 * Makes the audit entry of an answered attempt. The target is the path's `id` by default, as it was
 * sent where the attempt was refused before it was parsed.
 */
function auditEntry(c: Context<Http>, { action, actor, at }: Attempt): AuditEntry {
  const { change, input, problem, requestId } = c.var;
  const id = input?.params["id"] ?? c.req.param("id")?.slice(0, TARGET_MAX_LENGTH);
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
    request: input?.body ?? input?.query ?? null,
    before: change?.before ?? null,
    after: change?.after ?? null,
    requestId,
  };
}
