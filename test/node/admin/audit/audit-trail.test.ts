import { beforeEach, describe, expect, it, vi } from "vitest";
import { createAuditTrail } from "../../../../src/admin/audit/audit-trail.ts";
import type { AuditEntry } from "../../../../src/storage/audit-store.ts";
import { anAuditEntry } from "../../../builders/audit.ts";

const saved: AuditEntry[] = [];
const kept: AuditEntry[] = [];
const logged: { readonly level: string; readonly event: string; readonly fields: unknown }[] = [];
let save: (entries: readonly AuditEntry[]) => Promise<void>;
let keep: (entry: AuditEntry) => Promise<void>;

beforeEach(() => {
  for (const list of [saved, kept, logged]) list.length = 0;
  save = async (entries) => void saved.push(...entries);
  keep = async (entry) => void kept.push(entry);
});

const record = (entry: AuditEntry) =>
  createAuditTrail({
    save: (entries) => save(entries),
    keep: (one) => keep(one),
    log: (level, event, _msg, fields) => void logged.push({ level, event, fields }),
  })(entry);

const refuse = async () => {
  throw new Error("D1_ERROR: out of service");
};

describe("the audit trail", () => {
  it("writes an entry to D1 and its summary to the log", async () => {
    const entry = anAuditEntry();
    await record(entry);
    expect(saved).toEqual([entry]);
    expect(kept).toEqual([]);
    expect(logged).toMatchObject([
      {
        level: "info",
        event: "audit",
        fields: { audit_id: entry.id, actor: "ops", action: "ingest.pause", outcome: "done" },
      },
    ]);
  });

  it("hands an entry that D1 refuses to the coordinator", async () => {
    save = refuse;
    const entry = anAuditEntry();
    await record(entry);
    expect(kept).toEqual([entry]);
    expect(logged.map(({ event }) => event)).toEqual(["audit", "audit_waits"]);
  });

  it("waits for D1 only for a limited time", async () => {
    vi.useFakeTimers();
    try {
      save = () => new Promise(() => {});
      const recorded = record(anAuditEntry());
      await vi.advanceTimersByTimeAsync(2_000);
      await recorded;
      expect(kept).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("logs that an entry is stored nowhere, without the text that the operator wrote", async () => {
    save = refuse;
    keep = refuse;
    const written = { note: "s3cr3t" };
    const entry = anAuditEntry({
      request: written,
      before: written,
      after: written,
      detail: 'unknown field "s3cr3t"',
    });
    await record(entry);
    expect(logged.at(-1)).toMatchObject({
      level: "error",
      event: "audit_unsaved",
      fields: { audit_id: entry.id },
    });
    expect(JSON.stringify(logged)).not.toContain("s3cr3t");
  });
});
