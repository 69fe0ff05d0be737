/** When stores showed what they do not have. Pure: no clock. */
import type { FaultPlan } from "./fault-plan.ts";

/** A plan, and when it came into force: until the next one did. In milliseconds since 1970. */
export interface PlanInForce {
  readonly plan: FaultPlan;
  readonly from: number;
}

/**
 * How long damage that was read may be answered with: many times what a reader remembers of a copy
 * that it could not use (2 s), and what a busy machine may be late.
 */
export const DAMAGE_LASTS_MS = 30_000;

/** Whether copies may have looked damaged or missing to a request, or shortly before it was sent. */
export function mayHaveSeenDamage(
  plans: readonly PlanInForce[],
  { sentAt, answeredAt }: { readonly sentAt: number; readonly answeredAt: number },
): boolean {
  return plans.some(({ plan, from }, index) => {
    const to = plans[index + 1]?.from ?? Infinity;
    return damages(plan) && from <= answeredAt && to + DAMAGE_LASTS_MS >= sentAt;
  });
}

function damages({ rates }: FaultPlan): boolean {
  return Object.values(rates).some(({ corrupt = 0, missing = 0 }) => corrupt > 0 || missing > 0);
}
