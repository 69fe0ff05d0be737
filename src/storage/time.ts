export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Whether `ms` have passed since a time, in milliseconds since 1970; null is never. A time ahead of now
 * counts as never too, because a wrong clock must not silence anything for years.
 */
export function hasElapsed(since: number | null, ms: number, now: number): boolean {
  return since === null || since > now || now - since >= ms;
}
