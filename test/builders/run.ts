/** Builders of runs as the coordinator keeps them. */
import type { Run } from "../../src/schemas/run.ts";
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

/** The inputs of a new run besides the request. */
export const NEW_RUN: NewRun = {
  newId: () => "019aa3c0-0000-7000-8000-000000000001",
  now: () => Date.parse("2026-11-01T04:17:00.000Z"),
  source: "embedded",
  workerVersion: null,
};

/** A run that waits. */
export function aRunRecord(changes: Partial<Run> = {}): RunRecord {
  const record = newRun(NEW_RUN, anEnqueueRequest());
  return { ...record, job: { ...record.job, ...changes } };
}

/** A queue in which nothing waits or runs, and that is not paused. */
export function aQueue(changes: Partial<Queue> = {}): Queue {
  return { waiting: [], running: [], pause: null, ...changes };
}
