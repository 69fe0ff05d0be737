import { describe, expect, it } from "vitest";
import { startDeadline } from "../../../src/sources/request-deadline.ts";
import { parseRetryAfter, type RetryLimits, withRetries } from "../../../src/sources/retries.ts";
import { PassingError, SourceError } from "../../../src/sources/source-error.ts";

const LIMITS: RetryLimits = {
  maxAttempts: 5,
  backoffMs: 100,
  maxBackoffMs: 500,
  maxRetryAfterMs: 1000,
};

/** Makes attempts that fail with the given errors, and tells how long each was waited after. */
async function retry(errors: readonly Error[], { random = 1, limits = LIMITS } = {}) {
  const waits: number[] = [];
  let made = 0;
  const attempt = async () => {
    const error = errors[made++];
    if (error !== undefined) throw error;
    return "done";
  };
  const dependencies = {
    limits,
    deadline: startDeadline({ totalMs: 10_000, idleMs: 1000 }, () => 0),
    sleep: async (ms: number) => {
      waits.push(ms);
    },
    random: () => random,
  };
  const result = await withRetries(attempt, dependencies).catch((error: unknown) => error);
  return { result, waits, made };
}

const passing = (retryAfterMs?: number) => new PassingError("http_status", "busy", retryAfterMs);
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

describe("withRetries", () => {
  it("does not repeat what succeeds", async () => {
    expect(await retry([])).toEqual({ result: "done", waits: [], made: 1 });
  });

  it.each([
    ["the whole backoff", 1, [100, 200, 400, 500]],
    ["half of it", 0, [50, 100, 200, 250]],
  ])(
    "waits from half of a doubling, bounded backoff to all of it: %s",
    async (_, random, waits) => {
      expect(await retry(times(4, passing), { random })).toEqual({
        result: "done",
        waits,
        made: 5,
      });
    },
  );

  it("gives up after the last attempt, with the fault of it and their number", async () => {
    const { result, waits } = await retry(times(9, passing));
    expect(result).toMatchObject({ fault: "http_status", message: "busy (5 attempts)" });
    expect(result).toBeInstanceOf(PassingError);
    expect(waits).toHaveLength(4);
  });

  it("gives up at once where upstream asks for a longer wait than is allowed, and says for how long", async () => {
    const { result, waits } = await retry([passing(1001)]);
    expect(result).toBeInstanceOf(PassingError);
    expect(result).toMatchObject({
      fault: "http_status",
      retryAfterMs: 1001,
      message: "busy (1 attempt; it asks to be left alone for 1001 ms)",
    });
    expect(waits).toEqual([]);
  });

  it("says how long upstream asked to be left alone when it gives up", async () => {
    const { result } = await retry(times(9, () => passing(900)));
    expect(result).toMatchObject({ retryAfterMs: 900 });
  });

  it("waits as long as upstream asks, but never less than the backoff", async () => {
    const { waits } = await retry([passing(1000), passing(0), passing(399), passing(501)]);
    expect(waits).toEqual([1000, 200, 400, 501]);
  });

  it.each([
    ["a source error that stays", new SourceError("empty", "empty")],
    ["a bug", new TypeError("x is not a function")],
  ])("does not repeat %s", async (_, error) => {
    expect(await retry([error])).toEqual({ result: error, waits: [], made: 1 });
  });
});

describe("parseRetryAfter", () => {
  const NOW = Date.parse("2026-11-01T04:17:00.000Z");

  it.each([
    ["0", 0],
    [" 120 ", 120_000],
    ["Sun, 01 Nov 2026 04:18:30 GMT", 90_000],
    ["Sun, 01 Nov 2026 04:00:00 GMT", 0],
  ])("reads %j as %i ms", (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms);
  });

  it.each([
    null,
    "",
    "soon",
    "-5",
    "1.5",
    "1e3",
    "99999999999999999999",
    "2026-11-01",
    "Sun, 99 Nov 2026 04:18:30 GMT",
  ])("takes %j for none", (value) => {
    expect(parseRetryAfter(value, NOW)).toBeNull();
  });
});
