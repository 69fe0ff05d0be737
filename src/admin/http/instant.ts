import { z } from "zod";

const EARLIEST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

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
    .refine((text) => {
      const ms = Date.parse(text);
      return ms >= EARLIEST_MS && ms <= LATEST_MS;
    }, "must be within the years 0000 to 9999 (UTC)");
}
