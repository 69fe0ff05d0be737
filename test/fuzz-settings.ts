/** How long and from where the fuzz tests run. */
export interface FuzzSettings {
  /** Cases of each property; undefined: as few as each property says. */
  readonly runs?: number | undefined;
  /** Where the random numbers start. The same seed gives the same cases. */
  readonly seed: number;
}

/** Seed where none is asked for, so that `npm test` tries the same cases each time. */
const DEFAULT_SEED = 20_261_121;

/** The settings in the environment's `FUZZ_RUNS` and `FUZZ_SEED`. */
export function fuzzSettings(env: { readonly [name: string]: string | undefined }): FuzzSettings {
  const { FUZZ_RUNS: runs, FUZZ_SEED: seed } = env;
  return {
    runs: runs === undefined ? undefined : Number(runs),
    seed: seed === undefined ? DEFAULT_SEED : Number(seed),
  };
}
