import { DAY_MS } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";

/** Farthest alarm. An object that wakes before its work is due sets the next alarm. */
const ALARM_MAX_MS = DAY_MS;
/** The platform refuses earlier times, and those from 2189 on. */
const PLATFORM_RANGE = { first: 1, last: Date.parse("2188-12-31T00:00:00.000Z") };

/** Limits the time of an alarm to the platform's range, however wrong the clock is. */
export function alarmTime(at: EpochMs, now: EpochMs): EpochMs {
  const latest = now + ALARM_MAX_MS;
  const wanted = Number.isNaN(at) ? latest : Math.min(Math.max(at, now), latest);
  return Math.min(Math.max(wanted, PLATFORM_RANGE.first), PLATFORM_RANGE.last);
}
