import { median } from "./statistics.ts";

/** Seconds of a run from which on its memory is judged: by then it has settled. */
const JUDGED_FROM_SECONDS = 120;
/** Share by which the memory of the last quarter may exceed that of the third. */
const MAX_GROWTH = 0.1;

/** Memory in the second half of a run; both in the unit of the samples. */
export interface MemoryGrowth {
  readonly thirdQuarter: number;
  readonly lastQuarter: number;
  /** Whether it still grows, in a run that is long enough to tell. */
  readonly isTooMuch: boolean;
}

/** Compares the medians of the last two quarters of samples that were taken at equal distances. */
export function memoryGrowth(samples: readonly number[], seconds: number): MemoryGrowth {
  const half = samples.slice(Math.floor(samples.length / 2));
  const middle = Math.floor(half.length / 2);
  const thirdQuarter = median(half.slice(0, middle));
  const lastQuarter = median(half.slice(middle));
  const isJudged = seconds >= JUDGED_FROM_SECONDS;
  const isTooMuch = isJudged && lastQuarter > thirdQuarter * (1 + MAX_GROWTH);
  return { thirdQuarter, lastQuarter, isTooMuch };
}
