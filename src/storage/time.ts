export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** The last time that `timeText` writes with a year of four digits. */
export const LAST_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Whether `ms` have passed since a time, in milliseconds since 1970; null is never. */
export function hasElapsed(since: number | null, ms: number, now: number): boolean {
  return since === null || now - since >= ms;
}
