import type { Parameters } from "fast-check";
import { inject } from "vitest";
import type { FuzzSettings } from "../fuzz-settings.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly fuzz: FuzzSettings;
  }
}

/**
 * Parameters of a property that tries `runs` cases in `npm test`, and as many as are asked for in
 * `npm run fuzz`. A failure prints the seed.
 */
export function fuzzed<T>(runs: number): Parameters<T> {
  const settings = inject("fuzz");
  return { numRuns: settings.runs ?? runs, seed: settings.seed };
}

/** Options of a fuzz test: it takes as long as its cases take, for which nobody knows a bound. */
export const UNHURRIED = { timeout: 0 };
