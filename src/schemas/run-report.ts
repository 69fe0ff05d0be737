/** The report of an ingest, step by step. Runs, D1 and the API show it. */
import * as z from "zod";
import { changesSchema } from "./diff.ts";
import { count, deadline, type DeepReadonly, hexHash, timestamp } from "./fields.ts";
import { STAGES } from "./run-words.ts";

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
  after: z.number().meta({ description: "The checked value." }),
  limit: z.number().meta({ description: "The lowest or highest value that passes." }),
  message: z.string(),
});

/** Not strict: earlier runs may have more counts. */
const accounting = z.object({
  filtered: count.meta({ description: "Upstream rows without an IATA code." }),
  unscheduled: count.meta({ description: "Airports that the setting AIRPORTS excludes." }),
  rejected_by_reason: z.record(z.string(), count),
  new_regions: z
    .array(z.string())
    .meta({ description: "Code and name of the first subdivisions that the snapshot lacks." }),
  unnamed_regions: z.array(z.string()).exactOptional().meta({
    description:
      "The first subdivisions that are no regions, because nothing names them, or the catalog divides them otherwise.",
  }),
});

const unusableRows = z.strictObject({
  of: z.enum(["country", "airports", "regions"]).meta({
    description:
      "What the rows have in common: a country of served airports, or a list and a reason.",
  }),
  name: z.string().meta({ description: "The alpha-2 code of the country, or the reason." }),
  rows: count,
});
export type UnusableRows = DeepReadonly<z.output<typeof unusableRows>>;

/** The held changes that an operator should look at, because a rule marks them. */
export const heldSummary = z.strictObject({
  waiting: count,
  oldest_since: timestamp.nullable().meta({
    description:
      "Since when the oldest marked change differs from the served value; null if none waits.",
  }),
  next_due_at: deadline.nullable().meta({
    description: "When the first marked change is due; null if each waits for a decision.",
  }),
  unusable: z.array(unusableRows).exactOptional().meta({
    description:
      "What many unusable rows of upstream have in common, the largest group first; absent if there are few.",
  }),
  ledger_lost: z.literal(true).exactOptional().meta({
    description:
      "The archive has lost the ledger; the run started from that of an earlier version or of the snapshot.",
  }),
});
export type HeldSummary = DeepReadonly<z.output<typeof heldSummary>>;

/** The fields of a report as lists of runs show it. */
export const REPORT_FIELDS = {
  outcome: z.enum(RUN_OUTCOMES).nullable(),
  stage: z.enum(STAGES).nullable(),
  progress: z.strictObject({ done: count, total: count }).meta({
    description: "Of the stage encode: the parts that all locales share, then the locales.",
  }),
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
  held: heldSummary
    .extend({
      waiting: count,
      added: count.meta({ description: "Of these, the changes that no run saw before." }),
      ended: count.meta({
        description: "Changes that waited before this run: accepted, decided or withdrawn.",
      }),
      surprising: count.meta({
        description: "Of those that wait, the changes that an operator should look at.",
      }),
      by_rule: z.record(z.string(), count),
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
};

/** The further field that a run's page shows. */
export const CHANGES_FIELD = {
  changes: changesSchema.nullable().meta({
    description:
      "The first ten entities of each list that the run adds, changes and removes; null without a version to compare with.",
  }),
};

const reportSchema = z.strictObject({ ...REPORT_FIELDS, ...CHANGES_FIELD });

export type Report = DeepReadonly<z.output<typeof reportSchema>>;
export type RunOutcome = NonNullable<Report["outcome"]>;
export type RunError = NonNullable<Report["error"]>;
export type ListCounts = NonNullable<Report["counts"]>["airports"];
export type UpstreamFiles = Report["upstream"];
export type ArchivedFile = UpstreamFiles[string];
