/** Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Whether `ms` have passed since a time. A time that lies ahead counts as passed: the clock was wrong
 * when it was stored. Times are milliseconds since 1970; null is never.
 */
export function hasElapsed(since: number | null, ms: number, now: number): boolean {
  return since === null || since > now || now - since >= ms;
}

/**
 * Time of the next attempt after a wait of at most `longestMs`. An attempt that lies further ahead is
 * due now: the clock was wrong when it was set. Times are milliseconds since 1970.
 */
export function attemptTime(at: number, longestMs: number, now: number): number {
  return at > now + longestMs ? now : at;
}
