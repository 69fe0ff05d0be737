import { DAY_MS } from "./time.ts";

/** Farthest alarm. An object that wakes before its work is due sets the next alarm. */
const ALARM_MAX_MS = DAY_MS;

/**
 * Brings the time of an alarm into the range of the platform, which refuses what is not a number,
 * times up to 1970 and those after 2189.
 *
 * @param at milliseconds since 1970, as `now`.
 */
export function alarmTime(at: number, now: number): number {
  const latest = now + ALARM_MAX_MS;
  return Number.isNaN(at) ? latest : Math.min(Math.max(at, now), latest);
}
