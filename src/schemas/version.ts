import * as z from "zod";
import { type DeepReadonly, generation, hexHash, listCounts, timestamp } from "./fields.ts";

/** The only schema of a version. It has a file, because pages are checked without the runtime's types. */
export const versionSchema = z
  .strictObject({
    generation,
    published_at: timestamp,
    catalog_sha256: hexHash,
    counts: listCounts,
    locales: z.array(z.string()),
    is_current: z.boolean(),
    republishes: z.int().min(1).nullable().meta({
      description:
        "The earlier generation whose content it publishes again, as a rollback does; null if none that is retained has it.",
    }),
    has_diff: z.boolean().meta({
      description:
        "Whether `GET /catalog/diff` has the changes from its content to the current version.",
    }),
  })
  .meta({ id: "Version", description: "A published version of the catalog." });

export type Version = DeepReadonly<z.output<typeof versionSchema>>;
