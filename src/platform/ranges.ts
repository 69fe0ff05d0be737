/**
 * The ranges of stored numbers. A reader refuses what lies outside as damage. What lies inside, the
 * coordinator can store and increase. Without a library: readers check a manifest before they serve it.
 */

/** The highest generation that is read. */
export const GENERATION_MAX = 900_000_000;
/** The highest generation of an unknown manifest in a store above which the coordinator publishes. */
const ADOPTED_MAX = 500_000_000;
/**
 * The highest generation that an installation has published: it begins above ADOPTED_MAX at most, and a
 * version a minute reaches this after two centuries. The rest is room above what is found without tables.
 */
export const PUBLISHED_MAX = 600_000_000;
/** Most bytes of a stored file: more does not fit into an isolate. */
export const FILE_BYTES_MAX = 99_999_999;
export const CRC32_MAX = 0xffff_ffff;
/** The highest number of a stored format: each change of a form has one. */
const FORMAT_MAX = 999;
/** Where a count stays, however often it is increased. */
const COUNT_MAX = Number.MAX_SAFE_INTEGER;

export function isCount(value: unknown): boolean {
  return isWhole(value, 0, COUNT_MAX);
}

export function isGeneration(value: unknown): boolean {
  return isWhole(value, 1, GENERATION_MAX);
}

/** Whether the coordinator publishes above a generation that it has not published. */
export function isAdoptable(generation: number): boolean {
  return isWhole(generation, 1, ADOPTED_MAX);
}

/** Whether an installation may have published a generation. */
export function isPublishable(generation: number): boolean {
  return isWhole(generation, 1, PUBLISHED_MAX);
}

export function isFileBytes(value: unknown): boolean {
  return isWhole(value, 0, FILE_BYTES_MAX);
}

export function isCrc32(value: unknown): boolean {
  return isWhole(value, 0, CRC32_MAX);
}

/** Whether a number is a part of a whole, from 0 to 1. */
export function isShare(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

export function isFormat(value: unknown): value is number {
  return isWhole(value, 1, FORMAT_MAX);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Increases a stored count. */
export function increased(count: number, more = 1): number {
  return Math.min(count + more, COUNT_MAX);
}
