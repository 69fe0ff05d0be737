import { describe, expect, it } from "vitest";
import { mapConcurrently } from "../../../src/platform/map-concurrently.ts";

describe("mapConcurrently", () => {
  it("returns the results in the order of the items and never exceeds the limit", async () => {
    let running = 0;
    let most = 0;
    const results = await mapConcurrently([5, 1, 4, 2, 3], 2, async (item) => {
      most = Math.max(most, ++running);
      for (let turn = 0; turn < item; turn++) await Promise.resolve();
      running--;
      return item * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  it("starts no more work after one call has thrown", async () => {
    const started: number[] = [];
    const work = mapConcurrently([1, 2, 3, 4, 5, 6], 2, async (item) => {
      started.push(item);
      await Promise.resolve();
      if (item === 1) throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    await new Promise(setImmediate);
    expect(started.length).toBeLessThan(4);
  });
});
