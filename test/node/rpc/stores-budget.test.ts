import { setImmediate } from "node:timers/promises";
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
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  vi.spyOn(crypto.subtle, "digest").mockImplementation((...input) => {
    const made = digest(...input).finally(() => hashing.delete(made));
    hashing.add(made);
    return made;
  });
  world = new ReaderWorld();
  world.store.publish(aVersion(1, "one"));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The hashes that are being computed. */
const hashing = new Set<Promise<ArrayBuffer>>();

const hang = (...prefixes: readonly string[]) => {
  world.store.before = (call) =>
    prefixes.some((prefix) => call.startsWith(prefix)) ? new Promise(() => {}) : Promise.resolve();
};

/** Begins a look-up. Returns a function that gives its answer, or undefined if there is none yet. */
function startLookUp(): () => LookUpResult | undefined {
  const ended = vi.fn<(result: LookUpResult) => void>();
  void lookUp({ reader: world.reader, defaultLocale: "en" }, QUERY).then(ended);
  return () => ended.mock.lastCall?.[0];
}

/** Lets time pass in steps, after each of which the hashes of what was read are computed. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    await vi.advanceTimersByTimeAsync(Math.min(left, STEP_MS));
    do {
      await Promise.all(hashing);
      await setImmediate();
    } while (hashing.size > 0);
  }
}

const STEP_MS = 50;

describe("a request for a body that is not in memory", () => {
  it("gets its answer from R2 within a second, even if KV hangs for the manifest and the body", async () => {
    hang("kv");
    const answer = startLookUp();
    await pass(800);
    expect(answer()).toMatchObject({ ok: true, found: { kind: "body" } });
  });

  it.each([
    ["the manifest", ["kv", "r2"]],
    ["the body", ["kv get catalog/blob", "r2 get catalog/blob"]],
  ])("fails within five seconds if both stores hang for %s", async (_, hanging) => {
    hang(...hanging);
    const answer = startLookUp();
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
    const answer = startLookUp();
    await pass(4_999);
    expect(answer()).toBeUndefined();
    await pass(1);
    expect(answer()).toEqual({ ok: false, reason: "unavailable" });
  });
});
