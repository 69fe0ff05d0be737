import * as z from "zod";
import { NOTE_MAX_LENGTH } from "../../schemas/audit-actions.ts";
import type { EpochMs } from "../../platform/units.ts";
import type { Refusal } from "./route.ts";

const YEARS = /^(?:19[7-9]|20\d)\d-/;
const OF_YEARS = "must be within the years 1970 to 2099";

/** A time with an offset. Stores, alarms and answers can represent its years. */
export function instant() {
  return z.iso
    .datetime({
      offset: true,
      abort: true,
      error: 'must be a time such as "2026-11-21T06:00:00Z"',
    })
    .regex(YEARS, OF_YEARS)
    .meta({ example: "2026-11-21T06:00:00Z" });
}

export function day() {
  return z.iso.date({ abort: true }).regex(YEARS, OF_YEARS).meta({ example: "2026-11-21" });
}

export function time() {
  return instant().transform((text): EpochMs => Date.parse(text));
}

export const iataField = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be an IATA code: three capital letters");

/** The reason for a change: a field of every change. */
export const noteField = z
  .string()
  .max(NOTE_MAX_LENGTH)
  .optional()
  .meta({ description: "Reason, kept in the audit.", example: "bad names" });

/** Fields of the answer to every change, besides the present state. */
export const outcome = {
  changed: z.boolean().meta({ description: "False if nothing changed." }),
  message: z.string().meta({ description: "For people." }),
};

/** The parameters that page through a list, newest first. */
export const pageQuery = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .meta({ description: "The most entries in the answer." }),
  cursor: z.string().max(200).optional().meta({
    description: "The `next_cursor` of the previous page.",
  }),
};

export const pageFields = {
  next_cursor: z.string().nullable().meta({ description: "Null on the last page." }),
  total: z.int().min(0).meta({ description: "Entries that match, on all pages." }),
};

export function restOf({ nextCursor, total }: { nextCursor: string | null; total: number }) {
  return { next_cursor: nextCursor, total };
}

export const BAD_CURSOR: Refusal = {
  problem: {
    status: 400,
    code: "invalid_query",
    detail: "cursor: must be the next_cursor of the previous page",
  },
};
