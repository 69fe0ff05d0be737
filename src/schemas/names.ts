import * as z from "zod";

export const namesSchema = z
  .strictObject({
    letters: z.array(z.tuple([z.string(), z.string()])).meta({
      description:
        "Letters and what stands for them in a slug. Replace them, in this order, in the names in lower case; then fold the result to ASCII words with hyphens, and add the last two letters of a slug that ends in a country.",
    }),
    names: z.array(z.string()).meta({
      description: "`name_localized`, in the order of the regions; empty where it is `name`.",
    }),
    slugs: z.record(z.string(), z.string()).meta({
      description: "`slug_localized` by the position of the region, where it does not follow so.",
    }),
  })
  .meta({ id: "CatalogNames", description: "The names of the regions in one locale." });
