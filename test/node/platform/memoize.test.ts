import { expect, it, vi } from "vitest";
import { memoize } from "../../../src/platform/once.ts";

it("memoize computes once for a repeated text, and holds a bounded number of short ones", () => {
  const compute = vi.fn<(text: string) => object>((text) => ({ text }));
  const memoized = memoize(compute);
  expect(memoized("a")).toBe(memoized("a"));
  const long = "x".repeat(129);
  memoized(long);
  memoized(long);
  expect(compute.mock.calls).toEqual([["a"], [long], [long]]);
  for (let i = 0; i < 512; i++) memoized(String(i));
  memoized("a");
  expect(compute).toHaveBeenLastCalledWith("a");
});
