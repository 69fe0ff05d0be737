import type { Context, MiddlewareHandler } from "hono";
import { v7 } from "uuid";
import { describeError, logLine } from "../../platform/log.ts";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { durationOf, timeText } from "../../platform/time.ts";
import type { EpochMs } from "../../platform/units.ts";
import type { Actor, Http } from "../http/http.ts";
import type { RouteSpec } from "../http/route.ts";

interface AuditTrailDependencies {
  /** Writes to D1. Idempotent. */
  readonly save: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Hands an entry to the coordinator, which writes it to D1 as soon as D1 answers. */
  readonly keep: (entry: AuditEntry) => Promise<void>;
  readonly log: typeof logLine;
}

/** How long a change's answer waits for D1, and then for the coordinator. */
const AUDIT_DEADLINE_MS = 2_000;

/**
 * Writes each entry to D1, and its summary to the log. A change never fails because its entry cannot
 * be written: an entry that D1 does not take waits in the coordinator's outbox. If the coordinator
 * does not answer either, only the summary in the log is left, and the log says so.
 */
export function createAuditTrail({ save, keep, log }: AuditTrailDependencies): RecordChange {
  return async (entry) => {
    log("info", "audit", `${entry.action} ${entry.outcome}`, summary(entry));
    try {
      return await withDeadline("audit", AUDIT_DEADLINE_MS, save([entry]));
    } catch (cause) {
      log("warn", "audit_waits", "D1 did not take an audit entry", describeError(cause));
    }
    try {
      await withDeadline("audit", AUDIT_DEADLINE_MS, keep(entry));
    } catch (cause) {
      const fields = { audit_id: entry.id, ...describeError(cause) };
      log("error", "audit_unsaved", "an audit entry is in the log only", fields);
    }
  };
}

/** The entry without any text that the operator wrote. */
function summary({ id, actor, action, target, outcome, status, code, requestId }: AuditEntry) {
  return { audit_id: id, request_id: requestId, actor, action, target, outcome, status, code };
}

/** Records in the audit what operators change. Never rejects. */
export type RecordChange = (entry: AuditEntry) => Promise<void>;

export interface ReportDependencies {
  readonly record: RecordChange;
  readonly now: () => EpochMs;
}

/** Logs an operator's request, and records it in the audit if its route changes something. */
export function report(
  spec: RouteSpec,
  { record, now }: ReportDependencies,
): MiddlewareHandler<Http> {
  return async (c, next) => {
    const startedAt = now();
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
      duration_ms: durationOf(startedAt, now()),
    });
  };
}

interface Attempt {
  readonly action: string;
  readonly actor: Actor;
  readonly at: EpochMs;
}

/** Maximum number of characters of a target that the audit keeps. */
const TARGET_MAX_LENGTH = 128;

/** Makes the audit entry of an attempt. Its target is the path's `id` by default, as sent if not parsed. */
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
    // A version is published also if a store does not show it yet.
    outcome: problem === undefined || change?.after !== undefined ? "done" : refused,
    status: c.res.status,
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    request: input?.body ?? input?.query ?? null,
    before: change?.before ?? null,
    after: change?.after ?? null,
    requestId,
  };
}
