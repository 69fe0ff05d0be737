import { and, getTableColumns, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { auditEntries } from "./audit-schema.ts";
import { equal, type Listed, type PageQuery, readPage, within } from "./page.ts";
import { exceptNewest } from "./retention.ts";
import { timeText } from "./time-text.ts";

/** Outcome of a change. `failed` means that the effect is unknown. */
type AuditOutcome = "done" | "refused" | "failed";

/** One change or attempted change. */
export interface AuditEntry {
  /** UUIDv7. */
  readonly id: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: AuditOutcome;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly code: string | null;
  readonly detail: string | null;
  readonly request: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
}

/** Selects entries that match every given field. */
interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly outcome?: string | undefined;
  /** Earliest time, inclusive, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Latest time, exclusive, in milliseconds since 1970. */
  readonly untilMs?: number | undefined;
}

interface AuditQuery extends AuditFilter, PageQuery {}

type AuditPage = Listed<{ readonly entries: readonly AuditEntry[] }>;

const RETENTION_MS = 400 * 24 * 60 * 60 * 1000;

/** The audit in D1. Every method throws if D1 fails, and every write is idempotent. */
export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(d1: D1Database) {
  const db = drizzle(d1);
  return {
    /** Saves entries in one transaction. An entry that exists already stays as it is. */
    async save(entries: readonly AuditEntry[]): Promise<void> {
      const inserts = entries.map((entry) =>
        db.insert(auditEntries).values(entry).onConflictDoNothing(),
      );
      const [first, ...rest] = inserts;
      if (first !== undefined) await db.batch([first, ...rest]);
    },

    async list({ limit, cursor, ...filter }: AuditQuery): Promise<AuditPage> {
      const matching = conditions(filter);
      const columns = getTableColumns(auditEntries);
      const page = await readPage(db, auditEntries, { limit, cursor, matching, columns });
      if (!page.ok) return page;
      const { rows, ...rest } = page;
      return { ...rest, entries: rows as readonly AuditEntry[] }; // `save` writes no other outcomes
    },

    /** Deletes entries of over 400 days. `now` is in milliseconds since 1970. */
    async deleteOld(now: number): Promise<void> {
      const isOld = lt(auditEntries.at, timeText(now - RETENTION_MS));
      await db.delete(auditEntries).where(and(exceptNewest(db, auditEntries), isOld));
    },
  };
}

function conditions({ actor, action, target, outcome, sinceMs, untilMs }: AuditFilter) {
  return [
    equal(auditEntries.actor, actor),
    equal(auditEntries.action, action),
    equal(auditEntries.target, target),
    equal(auditEntries.outcome, outcome),
    ...within(auditEntries.at, sinceMs, untilMs),
  ];
}
