import { describe, expect, it } from "vitest";
import { type Coverage, findTooLittle } from "../../chaos/floors.ts";

/** What a minute on a very slow machine shows at least. */
const aMinute: Coverage = {
  seconds: 60,
  checked: 20,
  kills: 1,
  publications: 0,
  injected: { "kv missing": { times: 1, expected: 40 } },
};

describe("findTooLittle", () => {
  it("is content with a slow minute", () => {
    expect(findTooLittle(aMinute)).toEqual([]);
  });

  it.each<[string, Partial<Coverage>, string]>([
    ["answers", { checked: 19 }, "successes checked to the byte: 19 in 60 s, at least 20 wanted"],
    ["kills", { kills: 0 }, "kills of the process: 0 in 60 s, at least 1 wanted"],
    ["faults", { injected: {} }, "injected faults: 0 in 60 s, at least 1 wanted"],
  ])("names what there was too little of: %s", (_, changes, message) => {
    expect(findTooLittle({ ...aMinute, ...changes })).toEqual([message]);
  });

  it("names a fault that was certain to come, and never had an effect", () => {
    const injected = {
      ...aMinute.injected,
      "kv corrupt": { times: 0, expected: 15.4 },
      "d1 hang": { times: 0, expected: 14.9 },
    };
    const message = "kv corrupt: never, 15 times expected";
    expect(findTooLittle({ ...aMinute, injected })).toEqual([message]);
  });

  it("asks a short run for answers only, five minutes for a publication, an hour for more of all", () => {
    const none = { checked: 6, kills: 0, publications: 0, injected: {} };
    expect(findTooLittle({ seconds: 20, ...none })).toEqual([]);
    expect(findTooLittle({ ...aMinute, seconds: 300, checked: 100 })).toEqual([
      "publications: 0 in 300 s, at least 1 wanted",
    ]);
    expect(findTooLittle({ ...aMinute, seconds: 3_600 })).toEqual([
      "successes checked to the byte: 20 in 3600 s, at least 1200 wanted",
      "kills of the process: 1 in 3600 s, at least 12 wanted",
      "publications: 0 in 3600 s, at least 12 wanted",
      "injected faults: 1 in 3600 s, at least 12 wanted",
    ]);
  });
});
