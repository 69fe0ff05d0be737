import { z } from "zod";
import { instant } from "./instant.ts";
import type { Refusal } from "./route.ts";

/** A parameter that is a whole number. */
export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: "integer", minimum: min, maximum: max });
      },
    });
}

/** A parameter that is a time with an offset, as milliseconds since 1970. */
export function time() {
  return instant().transform((text) => Date.parse(text));
}

/** The parameters that page through a list, newest first. */
export const pageQuery = {
  limit: wholeNumber(1, 200).default(50).meta({ description: "The most entries in the answer." }),
  cursor: z.string().max(200).optional().meta({
    description: "The `next_cursor` of the previous page.",
  }),
};

/** The answer to a cursor that came from no page. */
export const BAD_CURSOR: Refusal = {
  problem: {
    status: 400,
    code: "invalid_query",
    detail: "cursor: must be the next_cursor of the previous page",
  },
};
