import type { DurationMs, EpochMs, Instant } from "./units.ts";

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** How far two correct clocks may differ. A time further in the future comes from a wrong clock. */
export const CLOCK_SKEW_MS = 60_000;

export type Time = EpochMs | Instant;

/** The times that RFC 3339 can write with a year of four digits. */
const EARLIEST_MS = Date.parse("0000-01-01T00:00:00.000Z");
export const LAST_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Formats a time, or the nearest that RFC 3339 can write. */
export function timeText(ms: EpochMs): Instant {
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LAST_TIME_MS)).toISOString();
}

function toMs(time: Time): EpochMs {
  return typeof time === "string" ? Date.parse(time) : time;
}

/** Whether a time is in the future: a clock was wrong when it was recorded, or is wrong now. */
export function isFuture(time: Time, now: EpochMs): boolean {
  return toMs(time) > now + CLOCK_SKEW_MS;
}

/** Returns a stored time; now if a wrong clock has dated it more than `toleranceMs` in the future. */
export function cutToNow(time: Time, now: EpochMs, toleranceMs: DurationMs): Time {
  if (!isFuture(time, now + toleranceMs)) return time;
  return typeof time === "string" ? timeText(now) : now;
}

/** The time between two times; 0 if the clock was set back in between. */
export function durationOf(from: Time, to: Time): DurationMs {
  return Math.max(0, toMs(to) - toMs(from));
}

/** Whether less than `ms` has passed since a time. If the clock was set back, true for up to twice as long. */
export function isRecent(since: EpochMs, ms: DurationMs, now: EpochMs): boolean {
  return Math.abs(now - since) < ms;
}
