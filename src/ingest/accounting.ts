import type { Accounting } from "./run.ts";
import type { Workspace } from "./workspace.ts";

/** The first rejected rows that a run keeps. */
const REJECTS_KEPT = 50;

/** What became of the rows and entities of a run's sources. */
export function account({ catalog, read, cityOrigins, newRegions }: Workspace): Accounting {
  const all = (length: number) => ({ seen: length, kept: length, rejected: 0 });
  const rejectedByReason: { [reason: string]: number } = {};
  for (const { reason } of read.rejects)
    rejectedByReason[reason] = (rejectedByReason[reason] ?? 0) + 1;
  return {
    counts: {
      airports: {
        seen: read.seen - read.filtered,
        kept: catalog.airports.length,
        rejected: read.rejects.length,
      },
      cities: all(catalog.cities.length),
      countries: all(catalog.countries.length),
      regions: all(catalog.regions.length),
    },
    filtered: read.filtered,
    rejectedByReason,
    rejects: read.rejects.slice(0, REJECTS_KEPT),
    repaired: read.repaired,
    cityOrigins,
    newRegions,
  };
}
