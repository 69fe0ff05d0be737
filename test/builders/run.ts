/** Builders of runs as the coordinator keeps them. */
import type { Run } from "../../src/coordinator/run.ts";
import {
  type EnqueueRequest,
  type NewRun,
  newRun,
  type RunRecord,
} from "../../src/coordinator/run-record.ts";
import type { Queue } from "../../src/coordinator/jobs.ts";

export function anEnqueueRequest(changes: Partial<EnqueueRequest> = {}): EnqueueRequest {
  return {
    trigger: "manual",
    mode: "incremental",
    source: null,
    candidate: null,
    forced: false,
    requested_by: "ops",
    note: null,
    ifPaused: "queue",
    idempotencyKey: null,
    ...changes,
  };
}

/** What a new run is made of, besides the request. */
export function someRunFields(changes: Partial<NewRun> = {}): NewRun {
  return {
    id: "019aa3c0-0000-7000-8000-000000000001",
    at: "2026-11-01T04:17:00.000Z",
    source: "embedded",
    workerVersion: null,
    ...changes,
  };
}

/** A run that waits. */
export function aRunRecord(changes: Partial<Run> = {}): RunRecord {
  const record = newRun(someRunFields(), anEnqueueRequest());
  return { ...record, job: { ...record.job, ...changes } };
}

/** A queue in which nothing waits or runs, and that is not paused. */
export function aQueue(changes: Partial<Queue> = {}): Queue {
  return { waiting: [], running: [], pause: null, ...changes };
}
