import type { Parameters } from "fast-check";
import { inject } from "vitest";
import type { FuzzSettings } from "../fuzz-settings.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly fuzz: FuzzSettings;
  }
}

/**
 * Parameters of a property that tries `runs` cases, or as many as `FUZZ_RUNS` says. A failure prints
 * the seed.
 *
 * @param found cases that fuzzing has found once, tried first; see `test/cases/found-by-fuzzing.ts`.
 */
export function fuzzed<T extends unknown[]>(runs: number, found: readonly T[] = []): Parameters<T> {
  const settings = inject("fuzz");
  const numRuns = found.length + (settings.runs ?? runs);
  return { numRuns, seed: settings.seed, examples: [...found] };
}

/** Options of a fuzz test, whose duration has no known bound. */
export const UNHURRIED = { timeout: 0 };
