import { z } from "zod";
import { timeText } from "../../storage/time-text.ts";

/**
 * A time in a request: RFC 3339 with an offset. In UTC its year must have four digits, so that an
 * answer can repeat it.
 */
export function instant() {
  return z.iso
    .datetime({
      offset: true,
      abort: true,
      error: 'must be a time such as "2026-11-21T06:00:00Z"',
    })
    .refine(
      (text) => /^\d{4}-/.test(timeText(Date.parse(text))),
      "must be within the years 0000 to 9999 (UTC)",
    );
}
