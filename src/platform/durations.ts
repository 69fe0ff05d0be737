/** Durations in words, for messages and pages. Pure. */
import { DAY_MS, HOUR_MS } from "./time.ts";
import type { DurationMs, EpochMs, Instant } from "./units.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

const UNITS = [
  ["d", DAY_MS, "h", HOUR_MS],
  ["h", HOUR_MS, "min", MINUTE_MS],
  ["min", MINUTE_MS, "s", SECOND_MS],
] as const;

/** Formats a duration, rounded to the smaller of two units: "340 ms", "2.4 s", "3 min 20 s", "1 d 6 h". */
export function formatDuration(ms: DurationMs): string {
  for (const [unit, size, smaller, step] of UNITS) {
    const steps = Math.round(ms / step);
    const count = Math.floor((steps * step) / size);
    const rest = steps - (count * size) / step;
    if (count > 0) return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller}`;
  }
  if (ms > 0 && ms < SECOND_MS) return `${Math.round(ms)} ms`;
  return `${Number((Math.max(0, ms) / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 1 : 0))} s`;
}

const AGE_UNITS = [
  { size: SECOND_MS, below: 60, name: "s" },
  { size: MINUTE_MS, below: 60, name: "min" },
  { size: HOUR_MS, below: 48, name: "h" },
] as const;
const DAYS = { size: DAY_MS, name: "d" };

/** Formats the distance of a time, rounded: "3 min ago" or "in 3 min"; "just now" below 5 seconds. */
export function formatAge(time: Instant, now: EpochMs): string {
  const age = now - Date.parse(time);
  const distance = Math.abs(age);
  if (distance < 5 * SECOND_MS) return "just now";
  const unit = AGE_UNITS.find(({ size, below }) => Math.round(distance / size) < below) ?? DAYS;
  const text = `${Math.round(distance / unit.size)} ${unit.name}`;
  return age < 0 ? `in ${text}` : `${text} ago`;
}
