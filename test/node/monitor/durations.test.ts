import { expect, it } from "vitest";
import { describeAge, describeDuration } from "../../../src/monitor/rule.ts";

it.each([
  [-5, "0 s"],
  [0, "0 s"],
  [999, "0 s"],
  [1_000, "1 s"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [3_661_000, "1 h 1 min"],
  [86_400_000, "1 d"],
  [86_400_000 + 59_000, "1 d"],
  [108_000_000, "1 d 6 h"],
])("describeDuration writes %i ms as %s", (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});

it.each([
  [-1, "0 days"],
  [1, "1 day"],
  [60, "60 days"],
  [61, "2 months"],
  [584, "19 months"],
  [730, "2 years"],
])("describeAge writes %i days as %s", (days, text) => {
  expect(describeAge(days * 86_400_000)).toBe(text);
});
