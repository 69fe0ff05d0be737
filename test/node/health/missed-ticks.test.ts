import { describe, expect, it } from "vitest";
import { missedTicks } from "../../../src/health/missed-ticks.ts";

const DAILY = "17 4 * * *";
const at = (text: string) => Date.parse(`2026-11-${text}Z`);

describe("missedTicks", () => {
  it.each([
    ["right after the tick", "03T04:17:00", "03T04:17:01", 0],
    ["before the next one is due", "03T04:17:00", "04T04:16:59", 0],
    ["while the next one may still come", "03T04:17:00", "04T04:31:59", 0],
    ["once that did not come", "03T04:17:00", "04T04:32:01", 1],
    ["days later", "03T04:17:00", "08T12:00:00", 5],
    ["with a tick of the future", "09T04:17:00", "08T12:00:00", 0],
  ])("counts those of a daily trigger %s", (_, last, now, missed) => {
    expect(missedTicks(DAILY, at(last), at(now))).toBe(missed);
  });

  it("expects none before anything is published", () => {
    expect(missedTicks(DAILY, null, at("08T12:00:00"))).toBe(0);
  });

  it("knows the other ways to write a trigger, in UTC", () => {
    expect(missedTicks("*/5 * * * *", at("03T04:00:00"), at("03T05:00:01"))).toBe(9);
    expect(missedTicks("0 6 * * MON", at("01T00:00:00"), at("10T12:00:00"))).toBe(2);
  });

  it("counts no more than a hundred", () => {
    expect(missedTicks("* * * * *", at("01T00:00:00"), at("08T12:00:00"))).toBe(100);
  });
});
