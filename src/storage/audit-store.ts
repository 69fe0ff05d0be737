import { and, count, desc, eq, gte, lt, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { auditEntries } from "./audit-schema.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";

/** What became of a change: `failed` if nobody knows whether it took effect. */
export type AuditOutcome = "done" | "refused" | "failed";

/** One change, or an attempt at one. */
export interface AuditEntry {
  /** UUIDv7. */
  readonly id: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: AuditOutcome;
  /** Status of the HTTP answer. */
  readonly status: number;
  readonly code: string | null;
  readonly detail: string | null;
  readonly request: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
}

/** Which entries to list; an entry must match all that are given. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: string | undefined;
  /** At this time (milliseconds since 1970) or later. */
  readonly sinceMs?: number | undefined;
  /** Before this time. */
  readonly untilMs?: number | undefined;
}

export interface AuditQuery extends AuditFilter {
  readonly limit: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export type AuditPage =
  | {
      readonly ok: true;
      /** Newest first. */
      readonly entries: readonly AuditEntry[];
      /** Null on the last page. */
      readonly nextCursor: string | null;
      /** Entries that match the filter, on all pages. */
      readonly total: number;
    }
  | { readonly ok: false; readonly reason: "bad_cursor" };

/** Entries are kept for this time. */
const RETENTION_MS = 400 * 24 * 60 * 60 * 1000;

/** The audit in D1. Every method throws if D1 refuses, and every write may be repeated. */
export interface AuditStore {
  /** Writes entries, all or none; one that is there already stays as it is. */
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
      const after = cursor === undefined ? undefined : decodeCursor(cursor);
      if (after?.ok === false) return after;
      const matching = conditions(filter);
      const older = after === undefined ? undefined : lt(auditEntries.id, after.id);
      const [rows, totals] = await db.batch([
        db
          .select()
          .from(auditEntries)
          .where(and(...matching, older))
          .orderBy(desc(auditEntries.id))
          .limit(limit + 1),
        db
          .select({ total: count() })
          .from(auditEntries)
          .where(and(...matching)),
      ]);
      const entries = rows.slice(0, limit) as AuditEntry[]; // `save` writes no other outcomes
      const last = rows.length > limit ? entries.at(-1) : undefined;
      return {
        ok: true,
        entries,
        nextCursor: last === undefined ? null : encodeCursor(last.id),
        total: totals[0]?.total ?? 0,
      };
    },

    async deleteOld(now) {
      await db.delete(auditEntries).where(lt(auditEntries.at, timeText(now - RETENTION_MS)));
    },
  };
}

function conditions({ actor, action, outcome, sinceMs, untilMs }: AuditFilter): SQL[] {
  const found: SQL[] = [];
  if (actor !== undefined) found.push(eq(auditEntries.actor, actor));
  if (action !== undefined) found.push(eq(auditEntries.action, action));
  if (outcome !== undefined) found.push(eq(auditEntries.outcome, outcome));
  if (sinceMs !== undefined) found.push(gte(auditEntries.at, timeText(sinceMs)));
  if (untilMs !== undefined) found.push(lt(auditEntries.at, timeText(untilMs)));
  return found;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
