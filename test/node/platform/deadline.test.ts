import { describe, expect, it } from "vitest";
import { abortable } from "../../../src/platform/deadline.ts";

const never = new Promise<string>(() => {});

describe("abortable", () => {
  it("returns the value of what settles before the signal aborts", async () => {
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
