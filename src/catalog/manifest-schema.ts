import * as z from "zod";
import { count, generation, hexHash, listCounts, timestamp } from "../schemas/fields.ts";
import {
  AIRPORT_SETS,
  CODINGS,
  DELTA_FORMS,
  fromStored,
  type Manifest,
  MANIFEST_FORMAT,
  OLDEST_MANIFEST_FORMAT,
  REPRESENTATIONS,
} from "./manifest.ts";

const segment = z.union([
  z.base64(),
  z.tuple([hexHash, count]),
  z.tuple([hexHash, count, z.literal(true)]),
]);

const body = z.tuple([hexHash], count);

const codings = z
  .partialRecord(z.enum(CODINGS), body)
  .refine((published) => "identity" in published, {
    error: "must have identity",
  });

const storedBlob = z.object({ blob: hexHash, bytes: count });

const delta = z.object({
  dictionary: hexHash,
  start: count,
  bytes: count,
  common: count,
});

const diff = z.object({
  generation,
  published_at: timestamp,
  catalog_sha256: hexHash,
  common: hexHash,
  local: z.record(z.string(), hexHash),
  deltas: z
    .object({
      blob: hexHash,
      locales: z.record(z.string(), z.partialRecord(z.enum(DELTA_FORMS), delta)),
    })
    .nullable(),
});

/**
 * Checks every field of a stored manifest that comes from outside the stores, and converts it. Those
 * in the stores have a seal.
 */
export const manifestSchema = z
  .object({
    format: z.literal([OLDEST_MANIFEST_FORMAT, MANIFEST_FORMAT]),
    generation,
    published_at: timestamp,
    catalog_sha256: hexHash,
    sources: z.record(z.string(), hexHash),
    as_of: z.iso.date().nullable(),
    data: z.array(z.object({ name: z.string(), as_of: z.iso.date() })),
    airport_set: z.enum(AIRPORT_SETS),
    counts: listCounts,
    previous: count.nullable(),
    diffs: z.array(diff),
    segments: z.array(segment),
    locales: z
      .record(
        z.string(),
        z.object({
          coverage: z.number().min(0).max(1),
          bodies: z.record(z.enum(REPRESENTATIONS), codings),
          own: z.partialRecord(z.enum(DELTA_FORMS), storedBlob),
        }),
      )
      .refine((locales) => Object.keys(locales).length > 0, { error: "must not be empty" }),
  })
  .refine(({ segments, locales }) => highestIndex(locales) < segments.length, {
    error: "a body names a segment that is not listed",
    path: ["segments"],
  })
  .transform((stored): Manifest => fromStored(stored));

type Locales = Parameters<typeof fromStored>[0]["locales"];

/** The highest index of a segment that a body names; -1 if there is none. */
function highestIndex(locales: Locales): number {
  const bodies = Object.values(locales)
    .flatMap((entry) => Object.values(entry.bodies))
    .flatMap((published) => Object.values(published));
  return bodies.reduce((highest, [, ...indexes]) => Math.max(highest, ...indexes), -1);
}
