/** Builders of evaluations as D1 keeps them. */
import type { AlertResult, AlertRun } from "../../src/schemas/alert-run.ts";

export function anAlertRun(changes: Partial<AlertRun> = {}): AlertRun {
  const at = "2026-11-20T12:00:00.000Z";
  return {
    id: "019aa3c0-0000-7000-8000-000000000001",
    trigger: "cron",
    requested_by: "cron",
    started_at: at,
    finished_at: at,
    duration_ms: 120,
    worst: "pass",
    rules_total: 1,
    pending: 0,
    firing: 0,
    nodata: 0,
    fired: 0,
    resolved: 0,
    suppressed: 0,
    notified: 0,
    notify_failed: 0,
    changed: false,
    results: [],
    deliveries: [],
    ping: "not_configured",
    worker_version: null,
    ...changes,
  };
}

export function anAlertResult(changes: Partial<AlertResult> = {}): AlertResult {
  return {
    rule: "catalog_stale",
    fingerprint: "00112233445566aa",
    labels: {},
    severity: "fail",
    status: "pass",
    state: "inactive",
    previous_state: "inactive",
    since: "2026-11-20T11:00:00.000Z",
    value: 28_800_000,
    threshold: 108_000_000,
    unit: "ms",
    message: "The catalog was last compared with upstream 8 h ago.",
    evidence: { generation: 7 },
    suppressed: false,
    notified: [],
    ...changes,
  };
}
