import { describe, expect, it } from "vitest";
import { memoryGrowth } from "../../../bench/memory-growth.ts";

/** Samples of a run whose last two quarters have these sizes, after a start that differs. */
function samples(third: number, last: number): number[] {
  return [900, 10, 900, 10, third, third, last, last];
}

describe("the memory of a run", () => {
  it.each([
    [100, 109, false],
    [100, 112, true],
    [100, 50, false],
  ])("of %d MB and then %d MB grows too much: %s", (third, last, isTooMuch) => {
    const growth = { thirdQuarter: third, lastQuarter: last, isTooMuch };
    expect(memoryGrowth(samples(third, last), 120)).toEqual(growth);
  });

  it("is not judged in a run that is too short for it to settle", () => {
    expect(memoryGrowth(samples(100, 200), 119).isTooMuch).toBe(false);
  });

  it("is judged by medians, so that one peak is no growth", () => {
    const peak = [1, 1, 1, 1, 1, 1, 100, 100, 100, 100, 900, 100];
    expect(memoryGrowth(peak, 150).isTooMuch).toBe(false);
  });
});
