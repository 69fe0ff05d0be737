import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SingleFlight } from "../../../src/platform/once.ts";

function aWorld() {
  const kept: Promise<unknown>[] = [];
  const clock = { now: 0 };
  const loads = new SingleFlight<string>(
    (promise) => void kept.push(promise),
    () => clock.now,
  );
  /** Lets time pass, and those act whose time has come. */
  const pass = (ms: number) => {
    clock.now += ms;
    return vi.advanceTimersByTimeAsync(ms);
  };
  return { kept, loads, clock, pass };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

describe("SingleFlight", () => {
  it("reads once for all simultaneous requests of a key", async () => {
    const { loads } = aWorld();
    const { promise, resolve } = Promise.withResolvers<string>();
    let reads = 0;
    const read = () => {
      reads++;
      return promise;
    };
    const answers = Promise.all(Array.from({ length: 50 }, () => loads.load("key", read)));
    resolve("value");
    expect(new Set(await answers)).toEqual(new Set(["value"]));
    expect(reads).toBe(1);
  });

  it("holds nothing after a load has ended, because it is no cache", async () => {
    const { loads } = aWorld();
    expect(await loads.load("key", async () => "old")).toBe("old");
    expect(loads.has("key")).toBe(false);
    expect(await loads.load("key", async () => "new")).toBe("new");
  });

  it("keeps the context that started a load alive until it ends", async () => {
    const { kept, loads } = aWorld();
    const load = loads.load("key", async () => "value");
    void loads.load("key", async () => "other");
    expect(kept).toHaveLength(1);
    expect(await kept[0]).toBe(await load);
  });

  it("replaces a load that never settles once for all that wait for it", async () => {
    const { loads, pass } = aWorld();
    const { promise, resolve } = Promise.withResolvers<string>();
    const reads = [new Promise<string>(() => {}), promise];
    let count = 0;
    const read = () => reads[count++] ?? Promise.reject(new Error("a third read"));
    void loads.load("key", read);
    const answers = Promise.all(Array.from({ length: 50 }, () => loads.load("key", read)));
    await pass(4_000);
    expect(count).toBe(2);
    await pass(3_000);
    resolve("second");
    expect(new Set(await answers)).toEqual(new Set(["second"]));
    expect(count).toBe(2);
  });

  it("waits 3.4 seconds for a load, the longest time that hanging stores take", async () => {
    const { loads, pass } = aWorld();
    const { promise, resolve } = Promise.withResolvers<string>();
    void loads.load("key", () => promise);
    const answer = loads.load("key", async () => "another");
    await pass(3_400);
    expect(loads.has("key")).toBe(true);
    resolve("late");
    expect(await answer).toBe("late");
  });

  it("gives up a load that has not ended after four seconds", async () => {
    const { loads, clock } = aWorld();
    void loads.load("key", () => new Promise(() => {}));
    clock.now = 3_999;
    expect(loads.has("key")).toBe(true);
    clock.now = 4_000;
    expect(loads.has("key")).toBe(false);
    expect(await loads.load("key", async () => "own")).toBe("own");
  });
});
