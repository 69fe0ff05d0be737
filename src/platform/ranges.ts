/**
 * The ranges of stored numbers. A reader refuses any other number as damage. The coordinator can store
 * and increase each number in its range. Uses no library, because readers check a manifest before they
 * serve it.
 */

export const GENERATION_MAX = 900_000_000;
/** The highest generation of an unknown manifest in a store above which the coordinator publishes. */
const ADOPTED_MAX = 500_000_000;
/**
 * The highest generation that an installation publishes. It starts above ADOPTED_MAX at most; a version
 * a minute reaches this limit after two centuries.
 */
export const PUBLISHED_MAX = 600_000_000;
/** Maximum size of a stored file in bytes: more does not fit into an isolate. */
export const FILE_BYTES_MAX = 99_999_999;
export const CRC32_MAX = 0xffff_ffff;
/** The highest number of a stored format: each change of a form has one. */
const FORMAT_MAX = 999;
/** The highest count: it stays there, however often it is increased. */
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

export function isShare(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

export function isFormat(value: unknown): value is number {
  return isWhole(value, 1, FORMAT_MAX);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

export function increased(count: number, more = 1): number {
  return Math.min(count + more, COUNT_MAX);
}
