/** Times in HTTP headers. Pure: `now` is an argument. */
import type { DurationMs, EpochMs } from "./units.ts";

/** The three forms of a date: the one that senders must use, RFC 850's, and that of C's `asctime`. */
const FORMS = [
  /^\w{3}, (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>[\d:]{8}) GMT$/,
  /^\w{6,9}, (?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) (?<time>[\d:]{8}) GMT$/,
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>[\d:]{8}) (?<year>\d{4})$/,
];

/**
 * Reads a date in a form that recipients must accept (RFC 9110, section 5.6.7). Null for any other
 * text, and for a day or time that does not exist. `Date.parse` accepts far too much.
 */
export function parseHttpDate(text: string | null | undefined, now: EpochMs): EpochMs | null {
  const found = FORMS.map((form) => form.exec(text ?? "")?.groups).find((groups) => groups);
  if (found === undefined) return null;
  const { day = "", month = "", year = "", time = "" } = found;
  const sent = `${day.replace(" ", "0")} ${month} ${year.length === 2 ? fullYear(year, now) : year} ${time} GMT`;
  const at = Date.parse(sent);
  const weekday = text?.slice(0, 3);
  return !Number.isNaN(at) && new Date(at).toUTCString() === `${weekday}, ${sent}` ? at : null;
}

/** A year of two digits is the latest such year that is at most 50 years in the future. */
function fullYear(year: string, now: EpochMs): number {
  const latest = new Date(now).getUTCFullYear() + 50;
  return latest - ((latest - Number(year)) % 100);
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), at least zero. Null if it is missing
 * or malformed.
 */
export function parseRetryAfter(text: string | null, now: EpochMs): DurationMs | null {
  if (/^\d+$/.test(text ?? "")) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(text, now);
  return at === null ? null : Math.max(0, at - now);
}
