/** Milliseconds since 1970 as the stores hold times: RFC 3339, UTC, milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
