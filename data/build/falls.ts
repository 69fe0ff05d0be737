import type { Counts } from "./manifest.ts";

/** Lists that a build must not shorten without being told to. */
const LISTS = ["airports", "scheduled", "icao", "cities", "countries", "regions"] as const;

/**
 * The lists that are shorter than in the published snapshot.
 *
 * @param accepted names of the lists that may be.
 */
export function checkFalls(
  before: Counts | undefined,
  after: Counts,
  accepted: readonly string[],
): string[] {
  return LISTS.filter((list) => before !== undefined && after[list] < before[list])
    .filter((list) => !accepted.includes(list))
    .map(
      (list) =>
        `${list} fall from ${before?.[list]} to ${after[list]}: find out why; ` +
        `if it is meant, build with "-- --fewer ${list}"`,
    );
}
