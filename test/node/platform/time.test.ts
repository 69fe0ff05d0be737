import { expect, it } from "vitest";
import { hasElapsed } from "../../../src/platform/time.ts";

it.each([
  [null, true],
  [1_000, true],
  [1_001, false],
  [2_000, false],
  [2_000 + 365 * 24 * 3_600_000, true],
])("hasElapsed says whether a second has passed since %s: %s", (since, passed) => {
  expect(hasElapsed(since, 1_000, 2_000)).toBe(passed);
});
