import { and, eq, getTableColumns, gte, lt, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { auditEntries } from "./audit-schema.ts";
import { type Listed, type PageQuery, readPage } from "./page.ts";
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
export interface AuditStore {
  /** Saves entries in one transaction. An entry that exists already stays as it is. */
  save(entries: readonly AuditEntry[]): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
  /** Deletes entries of over 400 days. `now` is in milliseconds since 1970. */
  deleteOld(now: number): Promise<void>;
}

export function createAuditStore(d1: D1Database): AuditStore {
  const db = drizzle(d1);
  return {
    async save(entries) {
      const inserts = entries.map((entry) =>
        db.insert(auditEntries).values(entry).onConflictDoNothing(),
      );
      const [first, ...rest] = inserts;
      if (first !== undefined) await db.batch([first, ...rest]);
    },

    async list({ limit, cursor, ...filter }) {
      const matching = conditions(filter);
      const page = await readPage(db, auditEntries, {
        limit,
        cursor,
        matching,
        columns: getTableColumns(auditEntries),
      });
      if (!page.ok) return page;
      const { rows, ...rest } = page;
      return { ...rest, entries: rows as readonly AuditEntry[] }; // `save` writes no other outcomes
    },

    async deleteOld(now) {
      const isOld = lt(auditEntries.at, timeText(now - RETENTION_MS));
      await db.delete(auditEntries).where(and(exceptNewest(db, auditEntries), isOld));
    },
  };
}

function conditions({ actor, action, target, outcome, sinceMs, untilMs }: AuditFilter): SQL[] {
  const found: SQL[] = [];
  if (actor !== undefined) found.push(eq(auditEntries.actor, actor));
  if (action !== undefined) found.push(eq(auditEntries.action, action));
  if (target !== undefined) found.push(eq(auditEntries.target, target));
  if (outcome !== undefined) found.push(eq(auditEntries.outcome, outcome));
  if (sinceMs !== undefined) found.push(gte(auditEntries.at, timeText(sinceMs)));
  if (untilMs !== undefined) found.push(lt(auditEntries.at, timeText(untilMs)));
  return found;
}
