import { expect, it } from "vitest";
import { alarmTime } from "../../../src/storage/alarm.ts";

const NOW = Date.parse("2026-11-01T04:17:00.000Z");
const LATEST = NOW + 86_400_000;

it.each([
  [NOW, NOW],
  [NOW + 60_000, NOW + 60_000],
  [0, NOW],
  [-1e308, NOW],
  [Date.parse("9999-12-31T23:59:59.000Z"), LATEST],
  [Infinity, LATEST],
  [Number.NaN, LATEST],
])("an alarm at %d is set for %d, which the platform takes", (at, set) => {
  expect(alarmTime(at, NOW)).toBe(set);
});

it.each([NOW, 0, -1, Date.parse("2200-01-01T00:00:00.000Z"), 8.64e15])(
  "an alarm is one that the platform takes while the clock shows %d",
  (now) => {
    for (const at of [now, now + 60_000, 0, Infinity]) {
      expect(alarmTime(at, now)).toBeGreaterThan(0);
      expect(alarmTime(at, now)).toBeLessThan(Date.UTC(2189, 0));
    }
  },
);
