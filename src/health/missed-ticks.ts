import { Cron } from "croner";

/** Delay after which a tick counts as missed. */
const GRACE_MS = 15 * 60 * 1000;
/** Most missed ticks that are counted. */
const MOST_COUNTED = 100;

/**
 * Counts the ticks of a cron trigger that were due and did not come. Pure: no clock.
 *
 * @param lastTick due time of the newest tick, or the time from which ticks are expected; null if
 * none is expected yet. Milliseconds since 1970, as is `now`.
 */
export function missedTicks(cron: string, lastTick: number | null, now: number): number {
  if (lastTick === null) return 0;
  const pattern = new Cron(cron, { timezone: "UTC", paused: true });
  const due = pattern.previousRuns(MOST_COUNTED, new Date(now - GRACE_MS));
  return due.filter((time) => time.getTime() > lastTick).length;
}
