import type { SurpriseLimits } from "../../src/ingest/accept-sources.ts";

/** The limits as they are deployed. */
export const DEPLOYED_LIMITS: SurpriseLimits = {
  holdMs: 72 * 60 * 60 * 1000,
  unlistedPercent: 8,
};

/** Every change is taken over at once. */
export const NOTHING_SURPRISES: SurpriseLimits = { ...DEPLOYED_LIMITS, holdMs: 0 };
