import { exports } from "cloudflare:workers";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { MESSAGE_MAX_BYTES } from "../../../src/ingest/guards.ts";
import { type CompressionInput, compressPart } from "../../../src/parts/codings.ts";
import { sharedParts } from "../../../src/ingest/encode-stage.ts";
import { PartCompressor } from "../../../src/worker/worker.ts";
import { coordinator, enqueue, RUN_TIMEOUT_MS, runEnded } from "./coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "./small-world.ts";

beforeAll(() => dropAirports(SMALL_AIRPORTS));

afterEach(() => {
  vi.restoreAllMocks();
});

it(
  "compression leaves the coordinator free to answer calls and accept commands",
  { timeout: RUN_TIMEOUT_MS },
  async () => {
    const gate = { isOpen: false };
    const spy = vi.spyOn(PartCompressor.prototype, "compress");
    spy.mockImplementation(async (task) => {
      // A promise of the test cannot be awaited in another invocation.
      while (!gate.isOpen) await setTimeout(5);
      return compressPart(task);
    });
    const { run } = await enqueue({ source: "dropped" });
    await expect.poll(() => spy.mock.calls.length).toBe(1);
    expect(await coordinator().status()).toMatchObject({
      running: { id: run.id, stage: "encode" },
    });
    expect(await coordinator().findRun(run.id)).toMatchObject({
      progress: { done: sharedParts().findIndex(({ name }) => name !== "identity") },
    });
    const { run: next } = await enqueue({ source: "dropped", mode: "full" });
    expect(await coordinator().cancel(next.id, { by: "ops", note: null })).toMatchObject({
      ok: true,
    });
    gate.isOpen = true;
    expect(await runEnded(run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
  },
);

it.each([
  ["gzip", "fast"],
  ["gzip", "best"],
  ["br", "fast"],
  ["br", "best"],
] as const)(
  "compression in %s at effort %s gives the same bytes in another invocation as locally",
  async (coding, effort) => {
    const bytes = new TextEncoder().encode(
      "the name of the airport, the name of the city. ".repeat(99),
    );
    const task: CompressionInput = { bytes, coding, offset: 5, windowBits: 18, effort };
    expect(await exports.PartCompressor.compress(task)).toEqual(
      Uint8Array.from(compressPart(task)),
    );
  },
);

it("compression accepts a part as long as the longest message that the guards allow", async () => {
  const bytes = new Uint8Array(5 * MESSAGE_MAX_BYTES);
  const task: CompressionInput = {
    bytes,
    coding: "gzip",
    offset: 0,
    windowBits: 18,
    effort: "fast",
  };
  expect((await exports.PartCompressor.compress(task)).length).toBeGreaterThan(0);
});
