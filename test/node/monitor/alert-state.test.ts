import { describe, expect, it } from "vitest";
import {
  type AlertTrack,
  newTrack,
  nextTrack,
  NODATA_FOR_MS,
} from "../../../src/monitor/alert-state.ts";
import type { FindingVerdict } from "../../../src/monitor/rule.ts";

const TICK_MS = 5 * 60_000;
const SYMBOLS: { readonly [symbol: string]: FindingVerdict } = { g: "good", b: "bad", n: "nodata" };

/** The states after each of some findings, five minutes apart. */
function statesAfter(findings: string, forMs = 0): string[] {
  let track: AlertTrack = newTrack(0);
  return findings.split("").map((symbol, index) => {
    const verdict = SYMBOLS[symbol] ?? "good";
    track = nextTrack(track, verdict, { now: (index + 1) * TICK_MS, forMs });
    return track.state;
  });
}

describe("an alert", () => {
  it.each([
    ["ggg", 0, ["inactive", "inactive", "inactive"]],
    ["b", 0, ["firing"]],
    ["bb", TICK_MS, ["pending", "firing"]],
    ["bgbb", TICK_MS, ["pending", "inactive", "pending", "firing"]],
    ["bgg", 0, ["firing", "firing", "resolved"]],
    ["bggg", 0, ["firing", "firing", "resolved", "inactive"]],
    ["bgbgbgg", 0, ["firing", "firing", "firing", "firing", "firing", "firing", "resolved"]],
    ["bggb", 0, ["firing", "firing", "resolved", "firing"]],
    ["bbggb", TICK_MS, ["pending", "firing", "firing", "resolved", "pending"]],
    ["n", 0, ["nodata"]],
    ["ng", 0, ["nodata", "inactive"]],
    ["nngg", 0, ["nodata", "nodata", "nodata", "resolved"]],
    ["bngg", 0, ["firing", "nodata", "nodata", "resolved"]],
    ["bnb", 2 * TICK_MS, ["pending", "nodata", "firing"]],
    ["bbbgnb", 2 * TICK_MS, ["pending", "pending", "firing", "firing", "nodata", "firing"]],
    ["bbbngb", 2 * TICK_MS, ["pending", "pending", "firing", "nodata", "nodata", "pending"]],
    ["bngbgg", 0, ["firing", "nodata", "nodata", "firing", "firing", "resolved"]],
  ])("goes through %s with a duration of %i ms as %j", (findings, forMs, states) => {
    expect(statesAfter(findings, forMs)).toEqual(states);
  });

  it("keeps the time at which it entered its state", () => {
    const first = nextTrack(newTrack(0), "bad", { now: 10, forMs: 0 });
    const second = nextTrack(first, "bad", { now: 20, forMs: 0 });
    expect([first.since, second.since]).toEqual([10, 10]);
  });

  it("counts as raised when it fires and while its input cannot be read afterwards", () => {
    const fired = nextTrack(newTrack(0), "bad", { now: 10, forMs: 0 });
    const blind = nextTrack(fired, "nodata", { now: 20, forMs: 0 });
    expect([fired.raisedAt, blind.raisedAt]).toEqual([10, 10]);
  });

  it.each([
    [NODATA_FOR_MS - 1, null],
    [NODATA_FOR_MS, NODATA_FOR_MS],
    [NODATA_FOR_MS + 1, NODATA_FOR_MS + 1],
  ])("counts as raised after %i ms without data: %s", (now, raisedAt) => {
    const blind = nextTrack(newTrack(0), "nodata", { now: 0, forMs: 0 });
    expect(blind.raisedAt).toBeNull();
    expect(nextTrack(blind, "nodata", { now, forMs: 0 })).toMatchObject({
      state: "nodata",
      raisedAt,
    });
  });
});
