/** Times in HTTP headers. Pure: `now` is an argument. */
import type { DurationMs, EpochMs } from "./units.ts";

/**
 * Reads a date in the form that is sent (RFC 9110, section 5.6.7). Null for any other text: `Date.parse`
 * finds a date in nearly each, and takes the year 0001 for 2001.
 */
export function parseHttpDate(text: string | null | undefined): EpochMs | null {
  const at = Date.parse(text ?? "");
  return !Number.isNaN(at) && new Date(at).toUTCString() === text ? at : null;
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), at least zero. Null if it is missing
 * or malformed.
 */
export function parseRetryAfter(text: string | null, now: EpochMs): DurationMs | null {
  if (/^\d+$/.test(text ?? "")) return Number(text) * 1000;
  const at = parseHttpDate(text);
  return at === null ? null : Math.max(0, at - now);
}
