/** The only schema of an ingest run: the row in D1, the OpenAPI document and types follow from it. */
import * as z from "zod";
import { count, type DeepReadonly, timestamp } from "./fields.ts";
import { CHANGES_FIELD, REPORT_FIELDS } from "./run-report.ts";
import { RUN_MODES, STAGES } from "./run-words.ts";

/** Origin of a run. */
export const RUN_TRIGGERS = ["cron", "manual", "resume", "retry"] as const;

/**
 * `queued → running → succeeded | failed | cancelled`, `queued → cancelled`, and `skipped` for
 * skipped cron ticks. The last four are final; only the count of skipped ticks still rises.
 */
export const RUN_STATES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const;

/** A run as lists show it. */
export const runSchema = z
  .strictObject({
    id: z.uuid().meta({ description: "A UUIDv7: ids ascend with time." }),
    state: z.enum(RUN_STATES),
    trigger: z.enum(RUN_TRIGGERS),
    mode: z.enum(RUN_MODES),
    source: z.string(),
    as_of: z.iso.date().exactOptional().meta({
      description: "Date of the dropped files, as the request said it.",
    }),
    forced: z.boolean().meta({ description: "Whether it overrides guards, as `force` does." }),
    requested_by: z.string().meta({ example: "ann" }),
    note: z.string().nullable(),
    attempt: z.int().min(1).meta({
      description: "1, or 2 for the retry of a run that failed with a transient fault.",
    }),
    parent_run_id: z.uuid().nullable().meta({ description: "The run that this one retries." }),
    candidate_of: z.uuid().nullable().meta({
      description:
        "The run whose archived upstream files it builds from; null if it fetches from upstream.",
    }),
    cancellation: z
      .strictObject({ by: z.string(), at: timestamp, note: z.string().nullable() })
      .nullable()
      .meta({
        description: "The request to cancel it, also while a running run has yet to stop.",
      }),
    retries: count.meta({ description: "Number of steps repeated after a fault." }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    stage_ms: z
      .partialRecord(z.enum(STAGES), count)
      .exactOptional()
      .meta({
        description:
          "Milliseconds that the steps of each stage have taken, repeated ones included.",
        example: { fetch: 2100, encode: 21400 },
      }),
    skipped_reason: z.enum(["paused", "already_queued", "queue_full"]).nullable(),
    skip_count: count.meta({ description: "Number of skipped ticks; 0 unless `skipped`." }),
    ...REPORT_FIELDS,
    worker_version: z.string().nullable(),
  })
  .meta({ id: "Run", description: "An ingest run." });

/** A run as its page shows it. */
export const runDetailsSchema = runSchema.extend(CHANGES_FIELD).meta({
  id: "RunDetails",
  description: "An ingest run, with the first entities that it changes.",
});

export type Run = DeepReadonly<z.output<typeof runDetailsSchema>>;
export type ListedRun = DeepReadonly<z.output<typeof runSchema>>;
export type RunState = Run["state"];
export type RunTrigger = Run["trigger"];
export type SkipReason = NonNullable<Run["skipped_reason"]>;

export function toListed(run: Run): ListedRun {
  const { changes: _, ...listed } = run;
  return listed;
}

/** Summary of an ended run. */
export const endedRunSchema = runSchema.pick({
  id: true,
  state: true,
  outcome: true,
  trigger: true,
  mode: true,
  finished_at: true,
  duration_ms: true,
  error: true,
  guards: true,
});
export type EndedRun = DeepReadonly<z.output<typeof endedRunSchema>>;
