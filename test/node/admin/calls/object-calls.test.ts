import { describe, expect, it } from "vitest";
import { callObject } from "../../../../src/admin/calls/object-calls.ts";
import { ask, Unavailable } from "../../../../src/admin/calls/unavailable.ts";
import { StoreTimeout } from "../../../../src/storage/deadline.ts";

const RESET = new Error("the object was reset");
const OVERLOADED = Object.assign(new Error("too many requests queued"), { overloaded: true });

/** What a call comes to, and through how many stubs, of which the first `broken` fail. */
async function call(isIdempotent: boolean, broken: number, error: Error) {
  let stubs = 0;
  const answer = await callObject(
    () => ++stubs,
    { part: "coordinator", deadlineMs: 25_000, isIdempotent },
    async (stub) => (stub <= broken ? Promise.reject(error) : "answer"),
  ).catch((cause: unknown) => cause);
  return { answer, stubs };
}

describe("a call to a Durable Object", () => {
  it("is repeated once through a new stub if it is idempotent", async () => {
    expect(await call(true, 1, RESET)).toEqual({ answer: "answer", stubs: 2 });
  });

  it.each([
    ["a third time", true, 2, RESET, 2],
    ["a second time, if it might then take effect twice", false, 1, RESET, 1],
    ["a second time, once it took all its time", true, 1, new StoreTimeout("coordinator"), 1],
    ["a second time where the object is overloaded", true, 1, OVERLOADED, 1],
  ])("is not made %s, and keeps the cause", async (_, isIdempotent, broken, cause, stubs) => {
    const made = await call(isIdempotent, broken, cause);
    expect(made).toMatchObject({ answer: { part: "coordinator", cause }, stubs });
    expect(made.answer).toBeInstanceOf(Unavailable);
  });
});

describe("a call to a store", () => {
  it("names the store that failed, and keeps the cause", async () => {
    const cause = new Error("D1_ERROR");
    await expect(ask("history", Promise.reject(cause))).rejects.toMatchObject({
      part: "history",
      cause,
    });
  });

  it("ends even if the store never answers", async () => {
    const asked = ask("backups", new Promise<never>(() => {}), 5);
    await expect(asked).rejects.toMatchObject({
      part: "backups",
      cause: { name: "StoreTimeout" },
    });
  });

  it("passes on that the coordinator is away", async () => {
    const away = new Unavailable("coordinator");
    await expect(ask("backups", Promise.reject(away))).rejects.toBe(away);
  });
});
