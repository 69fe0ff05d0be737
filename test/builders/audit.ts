import type { AuditEntry } from "../../src/storage/audit-store.ts";

/** An entry of the audit: a pause that took effect. */
export function anAuditEntry(changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: "019aa3c0-0000-7000-8000-000000000001",
    at: "2026-11-01T05:00:00.000Z",
    actor: "ops",
    action: "ingest.pause",
    target: null,
    outcome: "done",
    status: 200,
    code: null,
    detail: null,
    request: { note: "bad source" },
    before: { paused: false },
    after: { paused: true },
    requestId: "7b0c9e9a-3d4e-4f5a-8b6c-1d2e3f4a5b6c",
    ...changes,
  };
}
