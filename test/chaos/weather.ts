import { BINDINGS, type FaultPlan, type Rates } from "./fault-plan.ts";
import type { Random } from "./random.ts";

const DRIZZLE: Rates = {
  throw: 0.002,
  hang: 0.0003,
  slow: 0.01,
  lost_reply: 0.003,
  corrupt: 0.003,
  missing: 0.003,
  stale: 0.05,
};

const everywhere = (rates: Rates): FaultPlan["rates"] =>
  Object.fromEntries(BINDINGS.map((binding) => [binding, rates]));

/** What may be wrong for some seconds, more likely the more often it stands here. */
const WEATHERS: readonly (readonly [string, FaultPlan["rates"]])[] = [
  ["calm", {}],
  ["calm", {}],
  ["calm", {}],
  ["calm", {}],
  ["calm", {}],
  ["drizzle", everywhere(DRIZZLE)],
  ["drizzle", everywhere(DRIZZLE)],
  ["drizzle", everywhere(DRIZZLE)],
  ["KV is down", { kv: { throw: 0.95 } }],
  ["KV hangs", { kv: { hang: 0.3, slow: 0.5 } }],
  ["KV lags", { kv: { stale: 0.7, missing: 0.2 } }],
  ["KV lies", { kv: { corrupt: 0.6 } }],
  ["R2 is down", { r2: { throw: 0.95 } }],
  ["R2 lies", { r2: { corrupt: 0.3 } }],
  ["R2 loses replies", { r2: { lost_reply: 0.4, slow: 0.2 } }],
  ["KV and R2 are down", { kv: { throw: 0.9 }, r2: { throw: 0.9 } }],
  ["D1 is down", { d1: { throw: 1 } }],
  ["D1 loses replies", { d1: { lost_reply: 0.5, slow: 0.3 } }],
  ["D1 hangs", { d1: { hang: 0.5 } }],
  ["the coordinator is out of reach", { object: { throw: 0.5, lost_reply: 0.2 } }],
];

/** The faults of the next seconds. */
export function nextWeather(random: Random): { readonly name: string; readonly plan: FaultPlan } {
  const [name, rates] = random.pick(WEATHERS);
  return { name, plan: { seed: random.between(0, 1e9), rates } };
}
