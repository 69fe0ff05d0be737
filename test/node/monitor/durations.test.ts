import { expect, it } from "vitest";
import { describeAge } from "../../../src/monitor/rule.ts";

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
