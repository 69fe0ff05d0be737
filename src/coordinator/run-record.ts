import type { JobRecord } from "./job-record.ts";
import type { Checkpoint } from "../ingest/checkpoint.ts";
import type { Run } from "./run.ts";

/** Name of the work that ingests. */
export const INGEST = "ingest";

/** A run with the coordinator's internal fields. */
export type RunRecord = JobRecord<Run, Checkpoint>;

export function isRun(record: JobRecord): record is RunRecord {
  return record.work === INGEST;
}
