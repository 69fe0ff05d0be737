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
