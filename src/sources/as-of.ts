/** A day of UTC: `YYYY-MM-DD`. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/**
 * The day that the content of an HTTP response is of: when it was last modified, if it says so and
 * that is not in the future, else the day on which it is looked at.
 */
export function asOf(lastModified: string | undefined, now: number): string {
  const at = Date.parse(lastModified ?? "");
  return dayOf(new Date(at <= now ? at : now));
}
