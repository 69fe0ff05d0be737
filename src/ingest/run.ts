/**
 * An ingest run. Its schema is the only one: the row in D1, the OpenAPI document and the types of the
 * pages follow from it.
 */
import { z } from "zod";
import { changesSchema } from "../catalog/diff-schema.ts";
import { count, type DeepReadonly, hexHash, timestamp } from "../catalog/fields.ts";

/** Who or what asked for the run. */
export const RUN_TRIGGERS = ["cron", "manual", "resume", "retry"] as const;

/**
 * `full` fetches and stores everything anew, `incremental` only what upstream and the published
 * version do not have already, `dry_run` ends with the guards' verdict.
 */
export const RUN_MODES = ["incremental", "full", "dry_run"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** The stages of a run, in order. */
export const STAGES = ["fetch", "parse", "build", "guard", "encode", "publish", "verify"] as const;
export type Stage = (typeof STAGES)[number];

/**
 * `queued → running → succeeded | failed | cancelled`, `queued → cancelled`, and `skipped` for cron
 * ticks that were not taken. A run in one of the last four never changes again, but for the count
 * of further ticks that were skipped for the same reason.
 */
export const RUN_STATES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const;

/** What a succeeded run did: only `published` changed what is served. */
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
  .meta({ id: "EntityCounts", description: "Changes are those to the published version." });

const upstreamFile = z.strictObject({
  sha256: hexHash,
  bytes: count,
  origin: z.string().exactOptional(),
  etag: z.string().exactOptional(),
  last_modified: z.string().exactOptional(),
  as_of: z.iso.date().exactOptional().meta({ description: "The day that its content is of." }),
});

const guardTrip = z.strictObject({
  guard: z.string(),
  list: z.string().exactOptional(),
  locale: z.string().exactOptional(),
  before: z.number().nullable(),
  after: z.number(),
  limit: z.number(),
  message: z.string(),
});

const accounting = z.strictObject({
  filtered: count.meta({ description: "Upstream rows without an IATA code." }),
  unscheduled: count.meta({ description: "Airports that the setting AIRPORTS leaves out." }),
  rejected_by_reason: z.record(z.string(), count),
  repaired: z.record(z.string(), count),
  city_origins: z.record(z.string(), count),
  new_regions: z
    .array(z.string())
    .meta({ description: "The first subdivisions that the snapshot does not know." }),
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
      description: "1, or 2 for the second try of a run whose fault may pass.",
    }),
    parent_run_id: z.uuid().nullable().meta({ description: "The run that this one repeats." }),
    candidate_of: z.uuid().nullable().meta({
      description: "The run whose archived upstream bytes it works from; null if it asks upstream.",
    }),
    retries: count.meta({ description: "Steps that were repeated after a fault." }),
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    stage: z.enum(STAGES).nullable(),
    progress: z.strictObject({ done: count, total: count }).meta({
      description: "Of the stage encode: the segments common to all locales, then the locales.",
    }),
    skipped_reason: z.enum(["paused", "already_queued", "queue_full"]).nullable(),
    skip_count: count.meta({ description: "Ticks that it stands for; 0 unless `skipped`." }),
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
    rejects: z
      .array(z.strictObject({ reason: z.string(), line: count, iata: z.string(), id: z.string() }))
      .meta({ description: "The first rejected rows." }),
    rejects_total: count,
    guards: z
      .array(guardTrip)
      .meta({ description: "Guards that tripped: they refused the run, or were overridden." }),
    generation_before: z.int().nullable(),
    generation_after: z.int().nullable(),
    catalog_sha256: hexHash.nullable(),
    error: z
      .strictObject({ code: z.string(), stage: z.enum(STAGES), message: z.string() })
      .nullable(),
    worker_version: z.string().nullable(),
  })
  .meta({ id: "Run", description: "An ingest run." });

/** A run as its own page shows it. */
export const runDetailsSchema = runSchema.extend({ changes: changesSchema.nullable() }).meta({
  id: "RunDetails",
  description: "An ingest run, with the first entities that it changes.",
});

export type Run = DeepReadonly<z.output<typeof runDetailsSchema>>;
/** A run as lists show it: without its changes, which are kilobytes. */
export type ListedRun = DeepReadonly<z.output<typeof runSchema>>;
export type RunState = Run["state"];
export type RunOutcome = NonNullable<Run["outcome"]>;
export type RunTrigger = Run["trigger"];
export type RunError = NonNullable<Run["error"]>;
export type SkipReason = NonNullable<Run["skipped_reason"]>;
/** What became of the rows and entities of one list. */
export type ListCounts = NonNullable<Run["counts"]>["airports"];
/** What a run made of its upstream rows. */
export type Accounting = NonNullable<Run["accounting"]>;
/** Archived upstream files by their names. */
export type UpstreamFiles = Run["upstream"];
/** An upstream file as it was archived. */
export type UpstreamFacts = UpstreamFiles[string];

export function toListed(run: Run): ListedRun {
  const { changes: _, ...listed } = run;
  return listed;
}

/** What is remembered of a run that is over. */
export type EndedRun = Pick<
  Run,
  "id" | "state" | "outcome" | "trigger" | "mode" | "finished_at" | "error" | "guards"
>;
