/** Builders of runs as the coordinator keeps them. */
import type { RunRecord } from "../../src/ingest/coordinator-state.ts";
import { newRun, type EnqueueRequest } from "../../src/ingest/queue.ts";
import type { Run } from "../../src/ingest/run.ts";

export function anEnqueueRequest(changes: Partial<EnqueueRequest> = {}): EnqueueRequest {
  return { trigger: "manual", mode: "incremental", requestedBy: "ops", note: null, ...changes };
}

/** A run that waits. */
export function aRunRecord(changes: Partial<Run> = {}): RunRecord {
  const id = changes.id ?? "019aa3c0-0000-7000-8000-000000000001";
  const record = newRun(id, "embedded", "2026-11-01T04:17:00.000Z", anEnqueueRequest());
  return { ...record, run: { ...record.run, ...changes } };
}
