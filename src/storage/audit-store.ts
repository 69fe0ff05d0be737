import { and, getTableColumns, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { auditEntries } from "./schema.ts";
import { exceptNewest } from "./rows.ts";
import type { PageOf, PageQuery } from "./page.ts";
import { equal, readPage, within } from "./rows.ts";
import { DAY_MS, timeText } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";

/** A change, or an attempt. */
export type AuditEntry = Readonly<typeof auditEntries.$inferSelect>;

interface AuditQuery extends PageQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly outcome?: AuditEntry["outcome"] | undefined;
  /** IATA code of an airport on whose change somebody has decided. */
  readonly iata?: string | undefined;
  /** Inclusive. */
  readonly sinceMs?: EpochMs | undefined;
  /** Exclusive. */
  readonly untilMs?: EpochMs | undefined;
}

type AuditPage = PageOf<{ readonly entries: readonly AuditEntry[] }>;

const AUDIT_RETENTION_MS = 400 * DAY_MS;

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

    async list(query: AuditQuery): Promise<AuditPage> {
      const columns = getTableColumns(auditEntries);
      const matching = auditConditions(query);
      return readPage(db, auditEntries, { ...query, matching, columns }, (entries) => ({
        entries,
      }));
    },

    async deleteOld(now: EpochMs): Promise<void> {
      const isOld = lt(auditEntries.at, timeText(now - AUDIT_RETENTION_MS));
      await db.delete(auditEntries).where(and(exceptNewest(db, auditEntries, now), isOld));
    },
  };
}

function auditConditions({ actor, action, target, outcome, iata, sinceMs, untilMs }: AuditQuery) {
  return [
    equal(auditEntries.actor, actor),
    equal(auditEntries.action, action),
    equal(auditEntries.target, target),
    equal(auditEntries.outcome, outcome),
    iata === undefined ? undefined : hasDecided(iata),
    ...within(auditEntries.at, sinceMs, untilMs),
  ];
}

function hasDecided(iata: string) {
  const changes = sql`json_each(${auditEntries.after}, '$.changes')`;
  return sql`EXISTS (SELECT 1 FROM ${changes} WHERE json_extract(value, '$.iata') = ${iata})`;
}
