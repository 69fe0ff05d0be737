import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CatalogError } from "../src/api.ts";
import { Joint } from "../src/joint.ts";

const { signal } = new AbortController();

function failureOf(code: string): CatalogError {
  return new CatalogError({ code, message: "", retryAfterSeconds: null });
}

/** Work whose ends are listed: its first run has the first one. */
function workOf(...ends: readonly (() => Promise<unknown>)[]) {
  let runs = 0;
  return async () => {
    const end = ends[runs++];
    await end?.();
    return runs;
  };
}

describe("work that several want", () => {
  it("is done once for each key, and again after its end", async () => {
    const joint = new Joint<string, number>();
    const work = workOf();
    const join = (key: string) => joint.join(key, work, signal);
    expect(await Promise.all([join("a"), join("a")])).toEqual([1, 1]);
    expect(await Promise.all([join("a"), join("b")])).toEqual([3, 3]);
  });

  it("is done once again for all who wait, if it may hang", async () => {
    const joint = new Joint<string, number>(50);
    const work = workOf(
      () => new Promise(() => undefined),
      () => delay(20),
    );
    const join = () => joint.join("a", work, signal);
    void join();
    expect(await Promise.all([join(), join()])).toEqual([2, 2]);
  });

  it("is done again for those who wait, if whoever began it gave up, and fails for all otherwise", async () => {
    const joint = new Joint<string, number>();
    const fail = (code: string) => () => Promise.reject(failureOf(code));
    const work = workOf(fail("deadline_exceeded"), fail("unavailable"));
    const joined = [1, 2, 3].map(() => joint.join("a", work, signal).catch((error) => error.code));
    expect(await Promise.all(joined)).toEqual(["deadline_exceeded", "unavailable", "unavailable"]);
  });

  it("is waited for until a signal is aborted", async () => {
    const joint = new Joint<string, number>();
    const controller = new AbortController();
    const work = workOf(() => delay(50));
    const first = joint.join("a", work, signal);
    const second = joint.join("a", work, controller.signal);
    controller.abort(new Error("too late"));
    await expect(second).rejects.toThrow("too late");
    expect(await first).toBe(1);
  });
});
