/** Formats a time as a UTC date, `YYYY-MM-DD`. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Whether a text is a date, `YYYY-MM-DD`, that is not in the future. */
export function isPastDay(text: string, now: number): boolean {
  const at = Date.parse(`${text}T00:00:00.000Z`);
  return at <= now && dayOf(new Date(at)) === text;
}

/**
 * Dates the content of an HTTP response by Last-Modified. Returns today if the header is missing or
 * in the future.
 */
export function asOf(lastModified: string | undefined, now: number): string {
  const at = Date.parse(lastModified ?? "");
  return dayOf(new Date(at <= now ? at : now));
}
