import { describe, expect, it } from "vitest";
import { abortable, withDeadline } from "../../../src/storage/deadline.ts";

const never = new Promise<string>(() => {});

describe("withDeadline", () => {
  it("gives the value, or the error, of what settles in time", async () => {
    expect(await withDeadline("read", 60_000, Promise.resolve("value"))).toBe("value");
    await expect(withDeadline("read", 60_000, Promise.reject(new Error("down")))).rejects.toThrow(
      "down",
    );
  });

  it("rejects what never settles, and says what it was", async () => {
    await expect(withDeadline("read of x", 1, never)).rejects.toMatchObject({
      name: "StoreTimeout",
      message: "read of x: no answer in 1 ms",
    });
  });
});

describe("abortable", () => {
  it("gives the value of what settles before the signal aborts", async () => {
    const { signal } = new AbortController();
    expect(await abortable(signal, Promise.resolve("value"))).toBe("value");
  });

  it("rejects with the signal's reason, at once or as soon as it aborts", async () => {
    const controller = new AbortController();
    const waiting = abortable(controller.signal, never);
    const reason = new Error("deadline");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(abortable(controller.signal, Promise.resolve("late"))).rejects.toBe(reason);
  });
});
