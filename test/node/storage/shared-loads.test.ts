import { describe, expect, it } from "vitest";
import { SharedLoads } from "../../../src/storage/shared-loads.ts";

function aWorld() {
  const kept: Promise<unknown>[] = [];
  const clock = { now: 0 };
  const loads = new SharedLoads<string>(
    (promise) => void kept.push(promise),
    () => clock.now,
  );
  return { kept, loads, clock };
}

describe("SharedLoads", () => {
  it("reads once for all that want a key meanwhile", async () => {
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

  it("reads apart for each key", async () => {
    const { loads } = aWorld();
    const answers = ["a", "b"].map((key) => loads.load(key, async () => key));
    expect(await Promise.all(answers)).toEqual(["a", "b"]);
  });

  it("holds nothing once a load has ended: it is no cache", async () => {
    const { loads } = aWorld();
    expect(await loads.load("key", async () => "old")).toBe("old");
    expect(loads.has("key")).toBe(false);
    expect(await loads.load("key", async () => "new")).toBe("new");
  });

  it("keeps the one who began alive until the load ends", async () => {
    const { kept, loads } = aWorld();
    const load = loads.load("key", async () => "value");
    void loads.load("key", async () => "other");
    expect(kept).toHaveLength(1);
    expect(await kept[0]).toBe(await load);
  });

  it("lets those who wait for a load that never settles read for themselves", async () => {
    const { loads } = aWorld();
    void loads.load("key", () => new Promise(() => {}));
    expect(await loads.load("key", async () => "own")).toBe("own");
  }, 20_000);

  it("takes a load that has not ended in five seconds for lost", async () => {
    const { loads, clock } = aWorld();
    void loads.load("key", () => new Promise(() => {}));
    expect(loads.has("key")).toBe(true);
    clock.now = 5_000;
    expect(loads.has("key")).toBe(false);
    expect(await loads.load("key", async () => "own")).toBe("own");
  });
});
