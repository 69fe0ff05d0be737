import type { HoldLimits } from "../../src/ingest/accept-sources.ts";

/** The limits as they are deployed. */
export const DEPLOYED_LIMITS: HoldLimits = {
  holdMs: 72 * 60 * 60 * 1000,
  unlistedPercent: 8,
};

/** Every change is accepted at once. */
export const NOTHING_HELD: HoldLimits = { ...DEPLOYED_LIMITS, holdMs: 0 };
