import { z } from "zod";
import {
  RUN_MODES,
  RUN_OUTCOMES,
  RUN_STATES,
  RUN_TRIGGERS,
  SKIP_REASONS,
  STAGES,
} from "../../ingest/run.ts";
import { changesSchema } from "../catalog/diff-schema.ts";

/** A time as it goes out: RFC 3339, UTC, with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });
export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
/** How many there are of something. */
export const count = z.int().min(0);

/** A number of something for each list of the catalog. */
export const listCounts = z
  .strictObject({
    airports: count,
    cities: count,
    countries: count,
    regions: count,
  })
  .meta({ id: "ListCounts" });

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
  sha256: sha256Hex,
  bytes: count,
  origin: z.string().optional(),
  etag: z.string().optional(),
  last_modified: z.string().optional(),
  as_of: z.iso.date().optional().meta({ description: "The day that its content is of." }),
});

const guardTrip = z.strictObject({
  guard: z.string(),
  list: z.string().optional(),
  locale: z.string().optional(),
  before: z.number().nullable(),
  after: z.number(),
  limit: z.number(),
  message: z.string(),
});

const accounting = z.strictObject({
  filtered: count.meta({ description: "Upstream rows without an IATA code." }),
  unscheduled: count
    .optional()
    .meta({ description: "Airports that the setting AIRPORTS leaves out." }),
  rejected_by_reason: z.record(z.string(), count),
  repaired: z.record(z.string(), count),
  city_origins: z.record(z.string(), count),
  new_regions: z.array(z.string()),
});

/** An ingest run as lists and changes show it. */
export const runSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(RUN_STATES),
    outcome: z.enum(RUN_OUTCOMES).nullable(),
    trigger: z.enum(RUN_TRIGGERS),
    mode: z.enum(RUN_MODES),
    source: z.string(),
    forced: z.boolean(),
    requested_by: z.string(),
    note: z.string().nullable(),
    attempt: z.int().min(1),
    parent_run_id: z.uuid().nullable(),
    candidate_of: z.uuid().nullable().meta({
      description: "The run whose archived upstream bytes it works from; null if it asks upstream.",
    }),
    retries: count,
    queued_at: timestamp,
    started_at: timestamp.nullable(),
    heartbeat_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
    stage: z.enum(STAGES).nullable(),
    progress: z.strictObject({ done: count, total: count }),
    skipped_reason: z.enum(SKIP_REASONS).nullable(),
    skip_count: count,
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
    rejects: z.array(
      z.strictObject({
        reason: z.string(),
        line: count,
        iata: z.string(),
        id: z.string(),
      }),
    ),
    rejects_total: count,
    guards: z.array(guardTrip),
    generation_before: z.int().nullable(),
    generation_after: z.int().nullable(),
    catalog_sha256: sha256Hex.nullable(),
    error: z
      .strictObject({ code: z.string(), stage: z.enum(STAGES), message: z.string() })
      .nullable(),
    worker_version: z.string().nullable(),
  })
  .meta({ id: "Run", description: "An ingest run." });

/** An ingest run as its own page shows it. */
export const runDetailsSchema = runSchema.extend({ changes: changesSchema.nullable() }).meta({
  id: "RunDetails",
  description: "An ingest run, with the first entities that it changes.",
});
