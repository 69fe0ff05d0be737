import { describeError, type logLine } from "../../log.ts";
import type { AuditEntry } from "../../storage/audit-store.ts";
import { withDeadline } from "../../storage/deadline.ts";
import type { RecordChange } from "../http/report.ts";

interface AuditTrailDependencies {
  /** Writes to D1. May be repeated. */
  readonly save: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Hands an entry to the coordinator, which writes it to D1 as soon as D1 answers. */
  readonly keep: (entry: AuditEntry) => Promise<void>;
  readonly log: typeof logLine;
}

/** How long a change's answer waits for D1, and then for the coordinator. */
const STORE_DEADLINE_MS = 2_000;

/**
 * Writes each entry to D1, and its summary to the log. A change never fails because its entry cannot
 * be written: an entry that D1 does not take waits in the coordinator's outbox. If the coordinator
 * does not answer either, only the summary in the log is left, and the log says so.
 */
export function createAuditTrail({ save, keep, log }: AuditTrailDependencies): RecordChange {
  return async (entry) => {
    log("info", "audit", `${entry.action} ${entry.outcome}`, summary(entry));
    try {
      return await withDeadline("audit", STORE_DEADLINE_MS, save([entry]));
    } catch (cause) {
      log("warn", "audit_waits", "D1 did not take an audit entry", describeError(cause));
    }
    try {
      await withDeadline("audit", STORE_DEADLINE_MS, keep(entry));
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
