import { Cron } from "croner";

/** How late a tick may be before it counts as missed. */
const GRACE_MS = 15 * 60 * 1000;
/** Ticks that are counted at most. */
const MOST_COUNTED = 100;

/**
 * Ticks of a cron trigger that were due and never came. Pure: no clock.
 *
 * @param lastTick when the newest tick that came was due; before the first, since when ticks are
 * expected; null if they are not yet. Milliseconds since 1970, as is `now`.
 */
export function missedTicks(cron: string, lastTick: number | null, now: number): number {
  if (lastTick === null) return 0;
  const pattern = new Cron(cron, { timezone: "UTC", paused: true });
  const due = pattern.previousRuns(MOST_COUNTED, new Date(now - GRACE_MS));
  return due.filter((time) => time.getTime() > lastTick).length;
}
