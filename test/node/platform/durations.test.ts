import { expect, it } from "vitest";
import { formatAge, formatDuration } from "../../../src/platform/durations.ts";

const DAY_MS = 86_400_000;

it.each([
  [-5, "0 s"],
  [0, "0 s"],
  [340, "340 ms"],
  [2_440, "2.4 s"],
  [5_000, "5 s"],
  [22_400, "22 s"],
  [59_600, "1 min"],
  [61_000, "1 min 1 s"],
  [200_400, "3 min 20 s"],
  [3_599_900, "1 h"],
  [7_500_000, "2 h 5 min"],
  [7_530_000, "2 h 6 min"],
  [DAY_MS, "1 d"],
  [DAY_MS + 59_000, "1 d"],
  [DAY_MS + 1_800_000, "1 d 1 h"],
  [108_000_000, "1 d 6 h"],
])("formatDuration writes %i ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

it.each([
  [1_000, "just now"],
  [59_000, "59 s ago"],
  [59_600, "1 min ago"],
  [180_000, "3 min ago"],
  [DAY_MS, "24 h ago"],
  [3 * DAY_MS, "3 d ago"],
  [-180_000, "in 3 min"],
  // A pause of two hours, a second after it started.
  [-7_199_000, "in 2 h"],
  [-2.6 * DAY_MS, "in 3 d"],
])("formatAge writes a time %d ms ago as %s", (ms, text) => {
  const now = Date.parse("2026-11-21T06:00:00.000Z");
  expect(formatAge(new Date(now - ms).toISOString(), now)).toBe(text);
});
