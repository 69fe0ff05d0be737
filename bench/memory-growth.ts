import { median } from "./statistics.ts";

/** The minute that the later ones are measured by: in the first caches fill. */
const SETTLED_MINUTE = 2;
/** Share by which the memory of a later minute may exceed it. */
const MAX_GROWTH = 0.1;

/** How much memory was in use at a time since the start of a run. */
export interface MemorySample {
  readonly seconds: number;
  readonly mb: number;
}

/** Memory minute by minute. */
export interface MemoryGrowth {
  /** Median (MB) of each whole minute of the run. */
  readonly minutes: readonly number[];
  /** Whether it grows after the second minute, in a run that lasts longer. */
  readonly isTooMuch: boolean;
}

/** Compares the medians of the minutes of a run that lasted so many seconds. */
export function memoryGrowth(samples: readonly MemorySample[], seconds: number): MemoryGrowth {
  const minutes = Array.from({ length: Math.floor(seconds / 60) }, (_, minute) =>
    median(samples.filter((one) => Math.floor(one.seconds / 60) === minute).map(({ mb }) => mb)),
  );
  const settled = minutes[SETTLED_MINUTE - 1] ?? Number.NaN;
  const isTooMuch = minutes.slice(SETTLED_MINUTE).some((mb) => mb > settled * (1 + MAX_GROWTH));
  return { minutes, isTooMuch };
}
