import { describe, expect, it } from "vitest";
import { memoryGrowth, type MemorySample } from "../../../bench/memory-growth.ts";

/** Samples of minutes that each have these sizes, a third of a minute apart. */
function samples(...minutes: readonly (readonly number[])[]): MemorySample[] {
  return minutes.flatMap((sizes, minute) =>
    sizes.map((mb, index) => ({ seconds: minute * 60 + index * 20, mb })),
  );
}

describe("the memory of a run", () => {
  it.each([
    [[10, 100, 109, 105], false],
    [[10, 100, 100, 112], true],
    [[10, 100, 112, 100], true],
    [[900, 100, 50, 50], false],
  ])("of %j MB in its minutes grows too much after the second: %s", (minutes, isTooMuch) => {
    const taken = samples(...minutes.map((mb) => [mb, mb, mb]));
    expect(memoryGrowth(taken, minutes.length * 60)).toEqual({ minutes, isTooMuch });
  });

  it("is judged by medians, so that one peak is no growth", () => {
    const taken = samples([1, 1, 1], [100, 100, 100], [100, 900, 100]);
    expect(memoryGrowth(taken, 180).isTooMuch).toBe(false);
  });

  it("is judged by whole minutes, of which a short run has too few", () => {
    const taken = samples([100, 100, 100], [100, 100, 100], [900]);
    expect(memoryGrowth(taken, 179)).toEqual({ minutes: [100, 100], isTooMuch: false });
  });
});
