import { beforeEach, describe, expect, it, vi } from "vitest";
import { ByteSemaphore } from "../../../src/storage/byte-semaphore.ts";

let time: number;
let semaphore: ByteSemaphore;
/** Bytes of the works that have begun, in order. */
let begun: number[];

beforeEach(() => {
  time = 1_000_000;
  semaphore = new ByteSemaphore(100, () => time);
  begun = [];
});

/** Asks for work of so many bytes, which ends when it is told to. */
function ask(bytes: number) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const done = semaphore.run(bytes, () => {
    begun.push(bytes);
    return promise;
  });
  return { done, end: () => resolve("done"), fail: () => reject(new Error("failed")) };
}

/** Lets promises that have settled go on. */
const settled = () => new Promise(setImmediate);

describe("ByteSemaphore", () => {
  it("does at once what fits, and the rest as soon as there is room", async () => {
    const [first, second] = [ask(60), ask(40), ask(1)];
    await settled();
    expect(begun).toEqual([60, 40]);
    second.end();
    expect(await second.done).toBe("done");
    await settled();
    expect(begun).toEqual([60, 40, 1]);
    first.end();
  });

  it("does alone what is larger than the bound", async () => {
    const large = ask(1_000);
    ask(1);
    await settled();
    expect(begun).toEqual([1_000]);
    large.end();
    await settled();
    expect(begun).toEqual([1_000, 1]);
  });

  it("keeps the order, so that large ones are not passed by for ever", async () => {
    const first = ask(100);
    const [large] = [ask(90), ask(20), ask(5)];
    first.end();
    await settled();
    expect(begun).toEqual([100, 90]);
    large.end();
    await settled();
    expect(begun).toEqual([100, 90, 20, 5]);
  });

  it("goes on after work that failed", async () => {
    const first = ask(100);
    ask(100);
    first.fail();
    await expect(first.done).rejects.toThrow("failed");
    await settled();
    expect(begun).toEqual([100, 100]);
  });

  it("takes work that does not end for lost, and those in line go on", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      ask(100);
      ask(99);
      time += 4_999;
      vi.advanceTimersByTime(1_000);
      await settled();
      expect(begun).toEqual([100]);
      time += 1;
      vi.advanceTimersByTime(1_000);
      await settled();
      expect(begun).toEqual([100, 99]);
    } finally {
      vi.useRealTimers();
    }
  });
});
