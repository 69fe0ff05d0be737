import { expect, it } from "vitest";
import { NegativeCache } from "../../../src/storage/negative-cache.ts";

it("a failure is remembered for its time and no longer, by its key", () => {
  let time = 0;
  const failures = new NegativeCache<string>(2_000, () => time);
  failures.add("one", "missing");
  expect([failures.get("one"), failures.get("two")]).toEqual(["missing", undefined]);
  time = 1_999;
  expect(failures.get("one")).toBe("missing");
  time = 2_000;
  expect(failures.get("one")).toBeUndefined();
});

it("no more failures are remembered than a version has bodies", () => {
  const failures = new NegativeCache<number>(2_000, () => 0);
  for (let index = 0; index < 1025; index++) failures.add(String(index), index);
  expect([failures.get("0"), failures.get("1024")]).toEqual([undefined, 1024]);
});
