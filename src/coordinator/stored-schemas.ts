/** What the coordinator's tables hold, as it is checked when an instance reads it first. */
import * as z from "zod";
import { BACKUP, jobSchema, PLANS } from "../backup/job.ts";
import { count, hexHash, timestamp } from "../catalog/fields.ts";
import { heldSummary, REPORT_FIELDS, STAGES } from "../ingest/report.ts";
import { storedTime } from "../storage/object-tables.ts";
import { isOpen } from "./jobs.ts";
import { pauseSchema } from "./pause.ts";
import { runDetailsSchema } from "./run.ts";
import { INGEST } from "./run-record.ts";

const RECORD_FIELDS = {
  key: z.string().nullable(),
  attempts: count,
  notBefore: storedTime.nullable(),
  isPausable: z.boolean(),
  leavesPause: z.boolean(),
  isCommitted: z.boolean(),
};

/** An ended job has no checkpoint. A step that finds the rest of one wrong fails its job. */
export const jobRecordSchema = z.discriminatedUnion("work", [
  z
    .object({
      ...RECORD_FIELDS,
      work: z.literal(INGEST),
      job: runDetailsSchema,
      checkpoint: z.object({ stage: z.enum(STAGES) }).nullable(),
    })
    .refine(({ job, checkpoint }) => !isOpen(job.state) || checkpoint !== null, "has no stage"),
  z
    .object({
      ...RECORD_FIELDS,
      work: z.literal(BACKUP),
      job: jobSchema,
      checkpoint: z.object({ at: count, done: count }).nullable(),
    })
    .refine(
      ({ job, checkpoint }) =>
        !isOpen(job.state) || PLANS[job.kind][checkpoint?.at ?? -1] !== undefined,
      "has no stage",
    ),
]);

export const decisionSchema = z.object({
  id: z.string(),
  verdict: z.enum(["approved", "rejected"]),
  by: z.string(),
  at: timestamp,
  note: z.string().nullable(),
});

/** What D1 needs of an audit entry. */
export const auditEntrySchema = z.object({
  id: z.string(),
  at: timestamp,
  actor: z.string(),
  action: z.string(),
  outcome: z.enum(["done", "refused", "failed"]),
  status: z.int(),
  requestId: z.string(),
});

const recordedLedger = z.object({
  accepted: hexHash,
  held: hexHash,
  held_changes: heldSummary,
  generation: count,
  published_at: timestamp,
});

/** The single values, by their names up to the colon. */
export const VALUE_SCHEMAS = {
  pause: pauseSchema,
  owner: z.string().min(1),
  replaceable: z.string(),
  foreign: z.string(),
  skipped_run: z.string(),
  unreplicated: count,
  highest: count,
  collected_at: storedTime,
  history_lost: timestamp,
  ledger: recordedLedger,
  archived: REPORT_FIELDS.upstream,
  retry_at: storedTime,
  request_keys: z.array(z.tuple([z.string(), z.string()])),
} as const;
