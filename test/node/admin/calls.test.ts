import { describe, expect, it } from "vitest";
import {
  type CoordinatorCalls,
  coordinatorCalls,
  Unavailable,
  orUnavailable,
} from "../../../src/admin/calls.ts";
import { plainRun } from "../../../src/coordinator/run-record.ts";
import { StoreError, StoreTimeout } from "../../../src/platform/deadline.ts";

const RESET = new Error("the object was reset");
const OVERLOADED = Object.assign(new Error("too many requests queued"), { overloaded: true });

/** What a call comes to, and through how many stubs, of which the first `broken` fail. */
async function call(isIdempotent: boolean, broken: number, error: Error) {
  let stubs = 0;
  const calls = coordinatorCalls(() => {
    const stub = ++stubs;
    const answer = async () => (stub <= broken ? Promise.reject(error) : "answer");
    return { status: answer, enqueue: answer } as unknown as CoordinatorCalls; // the two that are made
  });
  const run = plainRun({
    trigger: "manual",
    requested_by: "ops",
    note: null,
    idempotencyKey: null,
  });
  const made: Promise<unknown> = isIdempotent ? calls.status() : calls.enqueue(run);
  const answer = await made.catch((cause: unknown) => cause);
  return { answer, stubs };
}

describe("a call to a Durable Object", () => {
  it("goes through a new stub once more if it is idempotent", async () => {
    expect(await call(true, 1, RESET)).toEqual({ answer: "answer", stubs: 2 });
  });

  it.each([
    ["a third time", true, 2, RESET, 2],
    ["a second time, if it might then take effect twice", false, 1, RESET, 1],
    ["a second time, once it took all its time", true, 1, new StoreTimeout("coordinator"), 1],
    ["a second time where the object is overloaded", true, 1, OVERLOADED, 1],
  ])("does not go out %s, and keeps the cause", async (_, isIdempotent, broken, cause, stubs) => {
    const made = await call(isIdempotent, broken, cause);
    expect(made).toMatchObject({ answer: { part: "coordinator", cause }, stubs });
    expect(made.answer).toBeInstanceOf(Unavailable);
  });
});

describe("a call of the coordinator that works with R2", () => {
  it.each([
    ["enqueue", "archive"],
    ["takeOver", "archive"],
    ["backUp", "backups"],
    ["verifyBackup", "backups"],
    ["restoreBackup", "backups"],
    ["removeBackup", "backups"],
  ])("%s names %s after one attempt if R2 fails", async (name, part) => {
    let attempts = 0;
    const cause = new StoreError("R2 list: 503");
    const attempt = async () => {
      attempts++;
      throw cause;
    };
    const calls = coordinatorCalls(() => ({ [name]: attempt }) as unknown as CoordinatorCalls);
    const made: Promise<unknown> = Reflect.apply(Reflect.get(calls, name), calls, []);
    await expect(made).rejects.toMatchObject({ part, cause });
    expect(attempts).toBe(1);
  });
});

describe("a call to a store", () => {
  it("names the store that failed, and keeps the cause", async () => {
    const cause = new Error("D1_ERROR");
    await expect(orUnavailable("history", Promise.reject(cause))).rejects.toMatchObject({
      part: "history",
      cause,
    });
  });

  it("ends even if the store never answers", async () => {
    const asked = orUnavailable("backups", new Promise<never>(() => {}), 5);
    await expect(asked).rejects.toMatchObject({
      part: "backups",
      cause: { name: "StoreTimeout" },
    });
  });

  it("passes on that the coordinator does not answer", async () => {
    const away = new Unavailable("coordinator");
    await expect(orUnavailable("backups", Promise.reject(away))).rejects.toBe(away);
  });
});
