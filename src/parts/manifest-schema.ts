import * as z from "zod";
import {
  count,
  crc32,
  fileBytes,
  generation,
  hexHash,
  listCounts,
  timestamp,
} from "../schemas/fields.ts";
import { FORMER_FORMAT, fromFormer } from "./former-manifest.ts";
import { AIRPORT_SETS, type Manifest, MANIFEST_FORMAT } from "./manifest.ts";

const part = z.object({ sha256: hexHash, bytes: fileBytes });

const sharedParts = z.object({
  identity: part,
  gzip: part,
  br: part.optional(),
  brInFrame: part.optional(),
});

const localeParts = z.object({
  bytes: fileBytes,
  gzip: part,
  br: part.optional(),
  digests: z.object({ identity: hexHash, gzip: hexHash, br: hexHash.optional() }),
  crc32: z.object({ message: crc32, framed: crc32 }),
});

const diff = z.object({
  generation,
  published_at: timestamp,
  catalog_sha256: hexHash,
  common: hexHash,
  local: z.record(z.string(), hexHash),
});

const head = {
  generation,
  published_at: timestamp,
  previous: generation.nullable(),
  catalog_sha256: hexHash,
  sources: z.record(z.string(), hexHash),
  as_of: z.iso.date().nullable(),
  data: z.array(z.object({ name: z.string(), as_of: z.iso.date() })),
  airport_set: z.enum(AIRPORT_SETS),
  counts: listCounts,
  diffs: z.array(diff),
};

const localesOf = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .record(z.string(), entry)
    .refine((locales) => Object.keys(locales).length > 0, { error: "must not be empty" });

const current = z.object({
  format: z.literal(MANIFEST_FORMAT),
  ...head,
  shared: z.object({ proto: sharedParts, json: sharedParts }),
  locales: localesOf(
    z.object({
      coverage: z.number().min(0).max(1),
      parts: z.object({ proto: localeParts, json: localeParts }),
      names: part.optional(),
    }),
  ),
});

const formerBody = z.tuple([hexHash], count);
const formerCodings = z.object({
  identity: formerBody,
  gzip: formerBody,
  br: formerBody.optional(),
});

const former = z
  .object({
    format: z.literal(FORMER_FORMAT),
    ...head,
    segments: z.array(
      z.union([
        z.base64(),
        z.tuple([hexHash, fileBytes]),
        z.tuple([hexHash, fileBytes, z.literal(true)]),
      ]),
    ),
    locales: localesOf(
      z.object({
        coverage: z.number().min(0).max(1),
        bodies: z.object({
          proto: formerCodings,
          json: formerCodings,
          "grpc-web": formerCodings,
          "grpc-web-json": formerCodings,
        }),
      }),
    ),
  })
  .transform((stored, context): Manifest => {
    try {
      return fromFormer(stored);
    } catch (error) {
      context.addIssue({ code: "custom", message: String(error), path: ["segments"] });
      return z.NEVER;
    }
  });

/** Checks a manifest without a checksum, and converts one of the previous format. */
export const manifestSchema = z.discriminatedUnion("format", [current, former]);
