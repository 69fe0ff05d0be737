import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lookUp, type LookUpResult } from "../../../src/rpc/look-up.ts";
import { aVersion } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const QUERY = {
  tag: "en",
  representation: "proto",
  codings: ["identity"],
  conditions: null,
  pin: null,
  withBody: true,
} as const;

let world: ReaderWorld;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  world = new ReaderWorld();
  world.store.publish(aVersion(1, "one"));
});
afterEach(() => void vi.useRealTimers());

const hang = (...beginnings: readonly string[]) => {
  world.store.before = (call) =>
    beginnings.some((beginning) => call.startsWith(beginning))
      ? new Promise(() => {})
      : Promise.resolve();
};

/** Begins a look-up. Returns a function that gives its answer, or undefined if there is none yet. */
function beginLookUp(): () => LookUpResult | undefined {
  const ended = vi.fn<(result: LookUpResult) => void>();
  void lookUp({ reader: world.reader, defaultLocale: "en" }, QUERY).then(ended);
  return () => ended.mock.lastCall?.[0];
}

/** Lets time pass in steps, between which the hashes of what was read are computed. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    await vi.advanceTimersByTimeAsync(Math.min(left, STEP_MS));
    for (let turn = 0; turn < 3; turn++) await crypto.subtle.digest("SHA-256", new Uint8Array());
  }
}

const STEP_MS = 50;

describe("a request for a body that is not in memory", () => {
  it("gets its answer from R2 within a second, even if KV hangs for the manifest and the body", async () => {
    hang("kv");
    const answer = beginLookUp();
    await pass(800);
    expect(answer()).toMatchObject({ ok: true, found: { kind: "body" } });
  });

  it.each([
    ["the manifest", ["kv", "r2"]],
    ["the body", ["kv get catalog/blob", "r2 get catalog/blob"]],
  ])("fails within five seconds if both stores hang for %s", async (_, hanging) => {
    hang(...hanging);
    const answer = beginLookUp();
    await pass(5_000);
    expect(answer()).toEqual({ ok: false, reason: "unavailable" });
  });

  it("fails after five seconds if R2 is late with the manifest and then hangs for the body", async () => {
    hang("kv", "r2 get catalog/blob");
    const { before } = world.store;
    world.store.before = async (call) => {
      if (call === "r2 get catalog/manifest")
        await new Promise((resolve) => setTimeout(resolve, 2_500));
      await before(call);
    };
    const answer = beginLookUp();
    await pass(4_999);
    expect(answer()).toBeUndefined();
    await pass(1);
    expect(answer()).toEqual({ ok: false, reason: "unavailable" });
  });
});
