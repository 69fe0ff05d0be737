/** Builders of what the guards look at: nothing trips but for what a test names. */
import type { ChangeCounts } from "../../src/catalog/diff.ts";
import type { ListChanges } from "../../src/catalog/list-diff.ts";
import type { Counts } from "../../src/catalog/manifest.ts";
import type { GuardFacts, PublishedFacts } from "../../src/ingest/guards.ts";

/** Lengths of the lists of a world of about the real size. */
export const WORLD: Counts = { airports: 9074, cities: 8559, countries: 250, regions: 2152 };

export function someChanges(
  changes: { readonly [L in keyof Counts]?: Partial<ListChanges> } = {},
): ChangeCounts {
  const none = { added: 0, changed: 0, removed: 0 };
  return {
    airports: { ...none, ...changes.airports },
    cities: { ...none, ...changes.cities },
    countries: { ...none, ...changes.countries },
    regions: { ...none, ...changes.regions },
  };
}

/** A published world in three locales, in which the candidate changes nothing. */
export function aPublished(changes: Partial<PublishedFacts> = {}): PublishedFacts {
  return {
    airportSet: "all",
    counts: WORLD,
    coverage: { de: 0.98, en: 1, ja: 0.87 },
    changes: someChanges(),
    ...changes,
  };
}

/** A candidate that is the same as what is published. */
export function someGuardFacts(changes: Partial<GuardFacts> = {}): GuardFacts {
  return {
    published: aPublished(),
    airportSet: "all",
    counts: WORLD,
    coverage: { de: 0.98, en: 1, ja: 0.87 },
    rows: { seen: 9074, rejected: 0 },
    fileRows: { before: 80_000, after: 80_000 },
    listed: { before: 5000, after: 5000, least: 4600 },
    violations: [],
    messageBytes: { de: 1_800_000, en: 1_700_000, ja: 1_900_000 },
    ...changes,
  };
}
