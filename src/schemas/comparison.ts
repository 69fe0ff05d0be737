/** The only schema of a comparison: the OpenAPI document and the page follow from it. */
import * as z from "zod";
import { changesSchema } from "./diff.ts";
import type { DeepReadonly } from "./fields.ts";
import { versionSchema } from "./version.ts";

const comparedVersion = versionSchema.pick({
  generation: true,
  published_at: true,
  catalog_sha256: true,
  counts: true,
  locales: true,
});

export const comparisonSchema = z
  .strictObject({
    from: comparedVersion,
    to: comparedVersion,
    warning: z.string().nullable().meta({
      description:
        "How the locales of `to` differ from LOCALES and DEFAULT_LOCALE; null if they do not, or if the coordinator does not say.",
    }),
    changes: changesSchema
      .nullable()
      .meta({ description: "The first changes; null if not every byte of both can be read." }),
  })
  .meta({ id: "Comparison", description: "What has changed between two versions." });

export type Comparison = DeepReadonly<z.output<typeof comparisonSchema>>;
