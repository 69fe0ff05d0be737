/**
 * The only schema of an ingest run: the row in D1, the OpenAPI document and the types of the pages
 * follow from it.
 */
import { z } from "zod";
import { changesSchema } from "../catalog/diff-schema.ts";
import { count, type DeepReadonly, hexHash, timestamp } from "../catalog/fields.ts";

/** Origin of a run. */
export const RUN_TRIGGERS = ["cron", "manual", "resume", "retry"] as const;

/**
 * `incremental` fetches and stores only the changes, `full` fetches and stores everything again,
 * `dry_run` ends after the guards.
 */
export const RUN_MODES = ["incremental", "full", "dry_run"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** The stages of a run, in order. */
export const STAGES = ["fetch", "parse", "build", "guard", "encode", "publish", "verify"] as const;
export type Stage = (typeof STAGES)[number];

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

/** Result of a succeeded run. Only `published` has changed the served version. */
export const RUN_OUTCOMES = ["published", "unchanged", "dry_run"] as const;

const entityCounts = z
  .strictObject({
    seen: count,
    kept: count,
    rejected: count,
    added: count,
    changed: count,
    removed: count,
  })
  .meta({ id: "EntityCounts", description: "The changes are relative to the published version." });

const upstreamFile = z.strictObject({
  sha256: hexHash,
  bytes: count,
  origin: z.string().exactOptional(),
  etag: z.string().exactOptional(),
  last_modified: z.string().exactOptional(),
  as_of: z.iso.date().exactOptional().meta({ description: "Date of its content." }),
});

const guardTrip = z.strictObject({
  guard: z.string(),
  list: z.string().exactOptional(),
  locale: z.string().exactOptional(),
  before: z.number().nullable().meta({
    description:
      "The value of the published version or of the last file; null if nothing is compared.",
  }),
  after: z.number().meta({ description: "The value that is judged." }),
  limit: z.number().meta({ description: "The lowest or highest value that passes." }),
  message: z.string(),
});

const accounting = z.strictObject({
  filtered: count.meta({ description: "Upstream rows without an IATA code." }),
  unscheduled: count.meta({ description: "Airports that the setting AIRPORTS excludes." }),
  rejected_by_reason: z.record(z.string(), count),
  repaired: z.record(z.string(), count),
  city_origins: z.record(z.string(), count),
  new_regions: z
    .array(z.string())
    .meta({ description: "Code and name of the first subdivisions that the snapshot lacks." }),
  unnamed_regions: z.array(z.string()).exactOptional().meta({
    description: "The first subdivisions that are no regions, because nothing names them.",
  }),
});

/** A run as lists show it. */
export const runSchema = z
  .strictObject({
    id: z.uuid().meta({ description: "A UUIDv7: ids ascend with time." }),
    state: z.enum(RUN_STATES),
    outcome: z.enum(RUN_OUTCOMES).nullable(),
    trigger: z.enum(RUN_TRIGGERS),
    mode: z.enum(RUN_MODES),
    source: z.string(),
    forced: z.boolean().meta({
      description: "Whether the guards against shrinking, change and lost coverage are overridden.",
    }),
    requested_by: z.string(),
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
    stage: z.enum(STAGES).nullable(),
    stage_ms: z.partialRecord(z.enum(STAGES), count).exactOptional().meta({
      description: "Milliseconds that the steps of each stage have taken, repeated ones included.",
    }),
    progress: z.strictObject({ done: count, total: count }).meta({
      description: "Of the stage encode: the segments common to all locales, then the locales.",
    }),
    skipped_reason: z.enum(["paused", "already_queued", "queue_full"]).nullable(),
    skip_count: count.meta({ description: "Number of skipped ticks; 0 unless `skipped`." }),
    upstream: z.record(z.string(), upstreamFile),
    counts: z
      .strictObject({
        airports: entityCounts,
        cities: entityCounts,
        countries: entityCounts,
        regions: entityCounts,
      })
      .nullable(),
    accounting: accounting.nullable(),
    held: z
      .strictObject({
        waiting: count,
        added: count.meta({ description: "Of these, the changes that no run saw before." }),
        ended: count.meta({
          description: "Changes that waited before this run: taken over, decided or withdrawn.",
        }),
        surprising: count.meta({
          description: "Of those that wait, the changes that an operator should look at.",
        }),
        by_rule: z.record(z.string(), count),
        oldest_since: timestamp
          .nullable()
          .meta({ description: "Since when the oldest surprising change waits." }),
        ledger_lost: z.literal(true).exactOptional().meta({
          description:
            "The archive has lost what was accepted: that of an earlier version or of the snapshot took its place.",
        }),
      })
      .nullable()
      .meta({ description: "Changes by upstream that wait. See /admin/ingest/held." }),
    rejects: z
      .array(z.strictObject({ reason: z.string(), line: count, iata: z.string(), id: z.string() }))
      .meta({ description: "The first rejected rows." }),
    rejects_total: count,
    guards: z
      .array(guardTrip)
      .meta({ description: "Tripped guards: they refused the run, or `force` overrode them." }),
    generation_before: z.int().nullable(),
    generation_after: z.int().nullable(),
    catalog_sha256: hexHash.nullable(),
    error: z
      .strictObject({ code: z.string(), stage: z.enum(STAGES), message: z.string() })
      .nullable()
      .meta({ description: "The fault of the last step; null if that succeeded." }),
    worker_version: z.string().nullable(),
  })
  .meta({ id: "Run", description: "An ingest run." });

/** A run as its own page shows it. */
export const runDetailsSchema = runSchema
  .extend({
    changes: changesSchema.nullable().meta({
      description:
        "The first ten entities of each list that the run adds, changes and removes; null without a version to compare with.",
    }),
  })
  .meta({
    id: "RunDetails",
    description: "An ingest run, with the first entities that it changes.",
  });

export type Run = DeepReadonly<z.output<typeof runDetailsSchema>>;
/** A run as lists show it: without its changes, which take kilobytes. */
export type ListedRun = DeepReadonly<z.output<typeof runSchema>>;
export type RunState = Run["state"];
export type RunOutcome = NonNullable<Run["outcome"]>;
export type RunTrigger = Run["trigger"];
export type RunError = NonNullable<Run["error"]>;
export type SkipReason = NonNullable<Run["skipped_reason"]>;
/** Counts of the rows and entities of one list. */
export type ListCounts = NonNullable<Run["counts"]>["airports"];
/** Archived upstream files by name. */
export type UpstreamFiles = Run["upstream"];
/** An archived upstream file. */
export type UpstreamFacts = UpstreamFiles[string];

export function toListed(run: Run): ListedRun {
  const { changes: _, ...listed } = run;
  return listed;
}

/** Summary of an ended run. */
export type EndedRun = Pick<
  Run,
  "id" | "state" | "outcome" | "trigger" | "mode" | "finished_at" | "error" | "guards"
>;
