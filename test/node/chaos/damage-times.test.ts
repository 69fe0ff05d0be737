import { describe, expect, it } from "vitest";
import { DAMAGE_LASTS_MS, mayHaveSeenDamage } from "../../chaos/damage-times.ts";
import { type FaultPlan, NO_FAULTS } from "../../chaos/fault-plan.ts";

const planOf = (rates: FaultPlan["rates"]): FaultPlan => ({ seed: 1, rates });

const FROM = 1_000;
const TO = 2_000;
/** Whether a request that takes 100 ms may have seen what a plan did from `FROM` to `TO`. */
const maySee = (plan: FaultPlan, sentAt: number) =>
  mayHaveSeenDamage(
    [
      { plan, from: FROM },
      { plan: NO_FAULTS, from: TO },
    ],
    { sentAt, answeredAt: sentAt + 100 },
  );

describe("mayHaveSeenDamage", () => {
  it.each<[string, FaultPlan["rates"], boolean]>([
    ["corrupts", { r2: { corrupt: 0.1 } }, true],
    ["misses", { kv: { missing: 0.1 } }, true],
    ["refuses and lags", { kv: { throw: 1, hang: 1, slow: 1, lost_reply: 1, stale: 1 } }, false],
    ["could damage, but never does", { kv: { corrupt: 0, missing: 0 } }, false],
    ["does nothing", {}, false],
  ])("during a plan that %s", (_, rates, expected) => {
    expect(maySee(planOf(rates), FROM + 100)).toBe(expected);
  });

  it("from when the plan came, and some time after it went", () => {
    const plan = planOf({ kv: { corrupt: 0.6 } });
    const times = [FROM - 101, FROM - 100, TO + DAMAGE_LASTS_MS, TO + DAMAGE_LASTS_MS + 1];
    expect(times.map((sentAt) => maySee(plan, sentAt))).toEqual([false, true, true, false]);
  });

  it("as long as no other plan comes", () => {
    const plans = [{ plan: planOf({ kv: { missing: 1 } }), from: FROM }];
    expect(mayHaveSeenDamage(plans, { sentAt: 1e12, answeredAt: 1e12 })).toBe(true);
    expect(mayHaveSeenDamage([], { sentAt: 1e12, answeredAt: 1e12 })).toBe(false);
  });
});
