/** The present faults. Pure: the random numbers are arguments. */

/** The bindings that fail. `object` is the coordinator of either installation. */
export const BINDINGS = ["kv", "r2", "d1", "object"] as const;
export type Binding = (typeof BINDINGS)[number];

/**
 * - `throw`: refuses at once;
 * - `hang`: keeps its caller waiting, then refuses;
 * - `slow`: does it, late;
 * - `lost_reply`: does it, then refuses;
 * - `corrupt`: shows other bytes, or too few;
 * - `missing`: shows nothing, as a miss that KV has cached;
 * - `stale`: shows the value before, as KV may.
 */
const FAULTS = ["throw", "hang", "slow", "lost_reply", "corrupt", "missing", "stale"] as const;
export type Fault = (typeof FAULTS)[number];

/** The share of calls, 0 to 1, that each fault hits. */
export type Rates = { readonly [F in Fault]?: number };

export interface FaultPlan {
  readonly seed: number;
  readonly rates: { readonly [B in Binding]?: Rates };
}

export const NO_FAULTS: FaultPlan = { seed: 0, rates: {} };

/** Which fault hits a call, if any. `luck` is at least 0 and less than 1. */
export function chooseFault(
  rates: Rates,
  possible: ReadonlySet<Fault>,
  luck: number,
): Fault | undefined {
  let end = 0;
  for (const fault of FAULTS) {
    if (!possible.has(fault)) continue;
    end += rates[fault] ?? 0;
    if (luck < end) return fault;
  }
  return undefined;
}
