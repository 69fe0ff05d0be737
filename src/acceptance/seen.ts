/** For how long upstream has said the same. Pure: the time is an argument. */
import { timeText } from "../storage/time-text.ts";

/** The first and the last run that saw upstream say the same (RFC 3339). */
interface Seen {
  readonly since: string;
  readonly last_seen: string;
}

const HOUR_MS = 60 * 60 * 1000;
/** Longest time between two runs that have seen the same: a day, and half of one for a late run. */
const GAP_MS = 36 * HOUR_MS;
/** The first of some daily runs may have been late, and the last one on time. */
const LATENESS_MS = HOUR_MS;

export function seenNow(now: number): Seen {
  const at = timeText(now);
  return { since: at, last_seen: at };
}

/** Whether a run has looked lately. After a gap nobody knows what upstream has said. */
export function isUnbroken({ since, last_seen }: Seen, now: number): boolean {
  // A time ahead of now comes from a wrong clock.
  return now - Date.parse(last_seen) <= GAP_MS && Date.parse(since) <= now;
}

/** Begins anew after a gap. */
export function seenAgain(seen: Seen, now: number): Seen {
  return isUnbroken(seen, now) ? { ...seenNow(now), since: seen.since } : seenNow(now);
}

/** Whether upstream has said the same for long enough. */
export function isRipe({ since }: Pick<Seen, "since">, holdMs: number, now: number): boolean {
  return now - Date.parse(since) >= holdMs - LATENESS_MS;
}
