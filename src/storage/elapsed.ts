/**
 * Whether `ms` have passed since a time. A time that lies ahead counts as passed: the clock was wrong
 * when it was stored. Times are milliseconds since 1970; null is never.
 */
export function hasElapsed(since: number | null, ms: number, now: number): boolean {
  return since === null || since > now || now - since >= ms;
}
