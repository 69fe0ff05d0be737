/** What the coordinator's tables hold, as it is checked when an instance reads it first. */
import * as z from "zod";
import { BACKUP, jobSchema, PLANS } from "../schemas/backup-job.ts";
import { savedLedger } from "../backup/state-part.ts";
import { count, type DeepReadonly, hexHash, timestamp } from "../schemas/fields.ts";
import { heldSummary, REPORT_FIELDS } from "../schemas/run-report.ts";
import { STAGES } from "../schemas/run-words.ts";
import { storedTime } from "../storage/object-tables.ts";
import { isOpen } from "./jobs.ts";
import { pauseSchema } from "../schemas/pause.ts";
import { runDetailsSchema } from "../schemas/run.ts";
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
      checkpoint: z
        .object({
          stage: z.enum(STAGES),
          // What the end of a run records, which nothing can stop any more.
          sources: z.record(z.string(), hexHash),
          parsed: z.object({ held: heldSummary, lastDecision: count }).nullable(),
        })
        .nullable(),
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

/** The ledger of the last run, and the version that was published then. */
const recordedLedger = savedLedger.extend({
  generation: count,
  /** A restored version may have the generation of another one. */
  published_at: timestamp,
});

/** The single values. */
const VALUES = {
  pause: pauseSchema,
  /** Names this installation to others over the same stores. Made with the tables. */
  owner: z.string().min(1),
  /** ETag of another's manifest that this installation may replace. */
  replaceable: z.string(),
  /** Why the stores are not its own. */
  foreign: z.string(),
  skipped_run: z.string(),
  unreplicated: count,
  /** The highest generation that the stores showed when they were adopted. */
  highest: count,
  /** Time of the last complete collection of garbage. */
  collected_at: storedTime,
  /** When rows of D1 were found missing, until a restore. */
  history_lost: timestamp,
  ledger: recordedLedger,
  /** The last keys of requests, the newest first, and what each of these requests says. */
  request_keys: z.array(z.tuple([z.string(), z.string()])),
} as const;

/** Those of each source, which its name follows after a colon. */
const VALUES_OF_SOURCES = {
  archived: REPORT_FIELDS.upstream,
  /** Time before which it has asked for no request. */
  retry_at: storedTime,
} as const;

type Outputs<Schemas extends { readonly [name: string]: z.ZodType }> = {
  readonly [Name in keyof Schemas & string]: DeepReadonly<z.output<Schemas[Name]>>;
};

export type CoordinatorValues = Outputs<typeof VALUES> & {
  readonly [Name in keyof typeof VALUES_OF_SOURCES as `${Name}:${string}`]: Outputs<
    typeof VALUES_OF_SOURCES
  >[Name];
};

/** The schema of a single value. What no Worker has written is none. */
export function schemaOfValue(key: string): z.ZodType {
  const schemas: { readonly [name: string]: z.ZodType } = key.includes(":")
    ? VALUES_OF_SOURCES
    : VALUES;
  const [name = ""] = key.split(":");
  return Object.hasOwn(schemas, name) ? (schemas[name] ?? z.never()) : z.never();
}
