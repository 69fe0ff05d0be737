import { expect, it } from "vitest";
import { isRecent } from "../../../src/platform/time.ts";

it.each([
  [0, false],
  [1_000, false],
  [1_001, true],
  [2_000, true],
  [2_999, true],
  [3_000, false],
  [2_000 + 365 * 24 * 3_600_000, false],
])("a memory of %i is recent for a second at 2,000: %s", (since, recent) => {
  expect(isRecent(since, 1_000, 2_000)).toBe(recent);
});
