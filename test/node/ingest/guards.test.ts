import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AIRPORT_SETS, type Counts } from "../../../src/catalog/manifest.ts";
import {
  applyForce,
  checkGuards,
  type GuardFacts,
  type GuardTrip,
} from "../../../src/ingest/guards.ts";
import { aPublished, someChanges, someGuardFacts, WORLD } from "../../builders/guard-facts.ts";

const LISTS = ["airports", "cities", "countries", "regions"] as const;
const MIB = 1024 * 1024;

const EVERYTHING_WRONG: GuardFacts = {
  published: aPublished({
    coverage: { en: 1 },
    changes: someChanges({ regions: { removed: 2152 } }),
  }),
  airportSet: "all",
  counts: { ...WORLD, regions: 0 },
  coverage: { en: 0.5 },
  rows: { seen: 10, rejected: 5 },
  fileRows: { before: 100, after: 10 },
  listed: { before: 100, after: 100, least: 92 },
  violations: [{ rule: "list_not_empty", entity: "regions" }],
  messageBytes: { en: 4 * MIB },
};

const guardsOf = (trips: readonly GuardTrip[]) => trips.map(({ guard }) => guard);

function withCounts(counts: Partial<Counts>): GuardFacts {
  return someGuardFacts({ counts: { ...WORLD, ...counts } });
}

function withCoverage(before: number, after: number): GuardFacts {
  return someGuardFacts({
    published: aPublished({ coverage: { de: before } }),
    coverage: { de: after },
  });
}

describe("checkGuards", () => {
  it("lets a candidate pass that is as the published version", () => {
    expect(checkGuards(someGuardFacts())).toEqual([]);
  });

  it("lets the first version pass: there is nothing to shrink, change or lose", () => {
    const counts = { airports: 1, cities: 1, countries: 1, regions: 1 };
    expect(checkGuards(someGuardFacts({ published: null, counts, coverage: { de: 0 } }))).toEqual(
      [],
    );
  });

  describe("guard_empty", () => {
    it.each(LISTS)("refuses empty %s, also in the first version", (list) => {
      const facts = withCounts({ [list]: 0 });
      expect(checkGuards({ ...facts, published: null })).toEqual([
        { guard: "guard_empty", list, before: null, after: 0, limit: 1, message: `${list} 0` },
      ]);
      expect(checkGuards(facts)[0]).toEqual({
        guard: "guard_empty",
        list,
        before: WORLD[list],
        after: 0,
        limit: 1,
        message: `${list} ${WORLD[list]} → 0`,
      });
    });

    it.each(LISTS)("is content with one of the %s", (list) => {
      expect(checkGuards({ ...withCounts({ [list]: 1 }), published: null })).toEqual([]);
    });
  });

  describe("guard_shrink", () => {
    it("shows the evidence when half of the airports are gone", () => {
      expect(checkGuards(withCounts({ airports: 4120 }))).toEqual([
        {
          guard: "guard_shrink",
          list: "airports",
          before: 9074,
          after: 4120,
          limit: 8621,
          message: "airports 9074 → 4120",
        },
      ]);
    });

    it.each([
      { before: 100, after: 96, trips: false },
      { before: 100, after: 95, trips: false },
      { before: 100, after: 94, trips: true },
      { before: 9074, after: 8621, trips: false },
      { before: 9074, after: 8620, trips: true },
      { before: 19, after: 18, trips: true },
      { before: 20, after: 19, trips: false },
      { before: 100, after: 100_000, trips: false },
    ])("trips over 5 %, in each list: $before → $after is $trips", ({ before, after, trips }) => {
      for (const list of LISTS) {
        const published = aPublished({ counts: { ...WORLD, [list]: before } });
        const found = checkGuards({ ...withCounts({ [list]: after }), published });
        expect(found.map(({ guard, list: where }) => [guard, where])).toEqual(
          trips ? [["guard_shrink", list]] : [],
        );
      }
    });
  });

  it("explains once that the setting AIRPORTS has changed", () => {
    const published = aPublished({ changes: someChanges({ airports: { removed: 9000 } }) });
    const facts = { ...withCounts({ airports: 74, cities: 10 }), published };
    const said = checkGuards({ ...facts, airportSet: "scheduled" }).map(({ message }) => message);
    expect(said.length).toBeGreaterThan(2);
    expect(said.filter((message) => message.includes("AIRPORTS was"))).toEqual([
      expect.stringMatching(/^airports 9074 → 74 \(AIRPORTS was "all" and is now "scheduled"/),
    ]);
  });

  describe("guard_change", () => {
    it.each([
      { changes: { changed: 2267 }, trips: false },
      { changes: { changed: 2268 }, trips: false },
      { changes: { changed: 2269 }, trips: true },
      { changes: { added: 2268 }, trips: false },
      { changes: { added: 2269 }, trips: true },
      { changes: { removed: 400, added: 400, changed: 1468 }, trips: false },
      { changes: { removed: 400, added: 400, changed: 1469 }, trips: true },
    ])("trips over 25 % of 9074 airports touched: $changes is $trips", ({ changes, trips }) => {
      const published = aPublished({ changes: someChanges({ airports: changes }) });
      expect(guardsOf(checkGuards(someGuardFacts({ published })))).toEqual(
        trips ? ["guard_change"] : [],
      );
    });

    it("takes it that all may change where nobody can read what is published", () => {
      const facts = someGuardFacts({ published: aPublished({ changes: null }) });
      const trips = checkGuards(facts);
      expect(trips).toEqual([
        {
          guard: "guard_change",
          before: 20_035,
          after: 20_035,
          limit: 5_008,
          message:
            "no copy of the published version is intact: any of its 20035 entities may change",
        },
      ]);
      expect(applyForce(trips, true).refused).toEqual([]);
    });

    it("holds back three times the rows, and says how many were added", () => {
      const published = aPublished({ changes: someChanges({ airports: { added: 18_148 } }) });
      const facts = { ...withCounts({ airports: 27_222 }), published };
      expect(checkGuards(facts)).toEqual([
        {
          guard: "guard_change",
          list: "airports",
          before: 9074,
          after: 18_148,
          limit: 2268,
          message: "airports 18148 added, 0 changed, 0 removed of 9074",
        },
      ]);
    });

    it("looks at each list for itself, so that a small list cannot change unseen", () => {
      const published = aPublished({
        changes: someChanges({ countries: { changed: 63 }, regions: { changed: 538 } }),
      });
      expect(checkGuards(someGuardFacts({ published }))).toMatchObject([
        { guard: "guard_change", list: "countries", before: 250, after: 63, limit: 62 },
      ]);
    });
  });

  describe("guard_truncated", () => {
    it.each([
      { before: 80_000, after: 78_400, trips: false },
      { before: 80_000, after: 78_399, trips: true },
      { before: 80_000, after: 82_000, trips: false },
      { before: null, after: 10, trips: false },
    ])("trips if the file lost over 2 % of its rows: $before to $after is $trips", (each) => {
      const { trips, ...fileRows } = each;
      expect(guardsOf(checkGuards(someGuardFacts({ fileRows })))).toEqual(
        trips ? ["guard_truncated"] : [],
      );
    });
  });

  describe("guard_truncated", () => {
    it.each([
      { after: 4600, trips: false },
      { after: 4599, trips: true },
    ])("trips if the file lacks over 8 % of 5000 airports in use: $after is $trips", (each) => {
      const listed = { before: 5000, after: each.after, least: 4600 };
      expect(guardsOf(checkGuards(someGuardFacts({ listed })))).toEqual(
        each.trips ? ["guard_truncated"] : [],
      );
    });
  });

  describe("guard_rejects", () => {
    it.each([
      { seen: 100, rejected: 1, trips: false },
      { seen: 100, rejected: 2, trips: false },
      { seen: 100, rejected: 3, trips: true },
      { seen: 9074, rejected: 181, trips: false },
      { seen: 9074, rejected: 182, trips: true },
      { seen: 0, rejected: 0, trips: false },
    ])("trips over 2 % of the rows: $rejected of $seen is $trips", ({ trips, ...rows }) => {
      expect(guardsOf(checkGuards(someGuardFacts({ rows, published: null })))).toEqual(
        trips ? ["guard_rejects"] : [],
      );
    });

    it("shows how many rows were rejected, of how many", () => {
      expect(checkGuards(someGuardFacts({ rows: { seen: 9074, rejected: 300 } }))).toEqual([
        {
          guard: "guard_rejects",
          before: 9074,
          after: 300,
          limit: 181,
          message: "300 of 9074 rows rejected",
        },
      ]);
    });
  });

  describe("guard_integrity", () => {
    it("refuses one broken reference, also in the first version", () => {
      const violations = [{ rule: "city_id_resolves", entity: "airport ZRH" }];
      expect(checkGuards(someGuardFacts({ violations, published: null }))).toEqual([
        {
          guard: "guard_integrity",
          before: null,
          after: 1,
          limit: 0,
          message: "city_id_resolves: airport ZRH",
        },
      ]);
    });

    it("names the first five broken rules and counts the rest", () => {
      const violations = Array.from({ length: 7 }, (_, n) => ({
        rule: "id_unique",
        entity: `airports ${n}`,
      }));
      const [trip] = checkGuards(someGuardFacts({ violations }));
      expect(trip).toMatchObject({ after: 7 });
      expect(trip?.message).toBe(
        "id_unique: airports 0; id_unique: airports 1; id_unique: airports 2; id_unique: airports 3; id_unique: airports 4; 2 more",
      );
    });
  });

  describe("guard_coverage", () => {
    it.each([
      { before: 0.98, after: 0.8801, trips: false },
      { before: 0.98, after: 0.88, trips: false },
      { before: 0.98, after: 0.8799, trips: true },
      { before: 0.05, after: 0, trips: false },
      { before: 0.1, after: 0, trips: false },
      { before: 0.1001, after: 0, trips: true },
      { before: 0.5, after: 1, trips: false },
    ])("trips when a locale loses over 10 points: $before → $after is $trips", (row) => {
      expect(guardsOf(checkGuards(withCoverage(row.before, row.after)))).toEqual(
        row.trips ? ["guard_coverage"] : [],
      );
    });

    it("takes a loss of exactly ten points for that, wherever it begins", () => {
      const starts = Array.from({ length: 9_000 }, (_, n) => 1_001 + n);
      const trippedByLosing = (loss: number) =>
        starts.filter(
          (start) => checkGuards(withCoverage(start / 1e4, (start - loss) / 1e4)).length > 0,
        );
      expect(trippedByLosing(1_000)).toEqual([]);
      expect(trippedByLosing(1_001)).toEqual(starts);
    });

    it("says what a locale had, what it has and what would have passed", () => {
      expect(checkGuards(withCoverage(0.98, 0))).toEqual([
        {
          guard: "guard_coverage",
          locale: "de",
          before: 0.98,
          after: 0,
          limit: 0.88,
          message: "de 98 % → 0 %",
        },
      ]);
    });

    it("has nothing against a locale that is taken out of those to publish", () => {
      expect(checkGuards(someGuardFacts({ coverage: { en: 1 } }))).toEqual([]);
    });

    it("has nothing against a locale that is new, however little it covers", () => {
      const coverage = { ...someGuardFacts().coverage, xx: 0 };
      expect(checkGuards(someGuardFacts({ coverage }))).toEqual([]);
    });
  });

  describe("guard_message_size", () => {
    it.each([
      { bytes: 3.5 * MIB - 1, trips: false },
      { bytes: 3.5 * MIB, trips: false },
      { bytes: 3.5 * MIB + 1, trips: true },
    ])("refuses a message over 3.5 MiB: $bytes bytes is $trips", ({ bytes, trips }) => {
      const found = checkGuards(someGuardFacts({ messageBytes: { en: 1, uk: bytes } }));
      expect(found.map(({ guard, locale }) => [guard, locale])).toEqual(
        trips ? [["guard_message_size", "uk"]] : [],
      );
    });

    it("says what would refuse it", () => {
      const [trip] = checkGuards(someGuardFacts({ messageBytes: { uk: 4_000_000 } }));
      expect(trip?.message).toBe(
        "the message in uk has 4000000 bytes, over 3670016: gRPC clients would refuse it",
      );
    });
  });

  it("finds every guard that trips, the gravest first", () => {
    expect(guardsOf(checkGuards(EVERYTHING_WRONG))).toEqual([
      "guard_empty",
      "guard_integrity",
      "guard_truncated",
      "guard_shrink",
      "guard_change",
      "guard_rejects",
      "guard_coverage",
      "guard_message_size",
    ]);
  });

  it("trips by its evidence: the value is on the wrong side of the limit, and the limit passes", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        for (const trip of checkGuards(facts)) {
          const fallsShort = ["guard_empty", "guard_truncated", "guard_shrink", "guard_coverage"];
          const least = fallsShort.includes(trip.guard);
          expect(Math.sign(trip.after - trip.limit)).toBe(least ? -1 : 1);
          const same = (other: GuardTrip) =>
            other.guard === trip.guard && other.list === trip.list && other.locale === trip.locale;
          expect(checkGuards(atLimit(facts, trip)).filter(same)).toEqual([]);
        }
      }),
    );
  });
});

describe("applyForce", () => {
  const trips = checkGuards(EVERYTHING_WRONG);

  it("refuses everything without force", () => {
    expect(trips).toHaveLength(8);
    expect(applyForce(trips, false)).toEqual({ refused: trips, overridden: [] });
  });

  it("overrides shrinking, change and coverage, and nothing else", () => {
    const { refused, overridden } = applyForce(trips, true);
    expect([...new Set(guardsOf(overridden))]).toEqual([
      "guard_truncated",
      "guard_shrink",
      "guard_change",
      "guard_coverage",
    ]);
    expect(guardsOf(refused)).toEqual([
      "guard_empty",
      "guard_integrity",
      "guard_rejects",
      "guard_message_size",
    ]);
  });

  it("keeps every trip on one of the two sides, in order", () => {
    fc.assert(
      fc.property(anyFacts, fc.boolean(), (facts, force) => {
        const found = checkGuards(facts);
        const { refused, overridden } = applyForce(found, force);
        expect(found.filter((trip) => !overridden.includes(trip))).toEqual(refused);
        expect(found.filter((trip) => !refused.includes(trip))).toEqual(overridden);
      }),
    );
  });
});

const someOfPublished = fc.nat({ max: 60 });
const anyCounts = fc.record<Counts>({
  airports: someOfPublished,
  cities: someOfPublished,
  countries: someOfPublished,
  regions: someOfPublished,
});
const anyListChanges = fc.record({
  added: fc.nat({ max: 4 }),
  changed: fc.nat({ max: 4 }),
  removed: fc.nat({ max: 4 }),
});
const anyCoverage = fc.dictionary(
  fc.constantFrom("de", "en", "ja"),
  fc.nat({ max: 10_000 }).map((n) => n / 10_000),
);
const anyFacts: fc.Arbitrary<GuardFacts> = fc.record({
  published: fc.option(
    fc.record({
      airportSet: fc.constantFrom(...AIRPORT_SETS),
      counts: anyCounts,
      coverage: anyCoverage,
      changes: fc.record({
        airports: anyListChanges,
        cities: anyListChanges,
        countries: anyListChanges,
        regions: anyListChanges,
      }),
    }),
  ),
  airportSet: fc.constantFrom(...AIRPORT_SETS),
  counts: anyCounts,
  coverage: anyCoverage,
  fileRows: fc.record({
    before: fc.option(fc.nat({ max: 200 })),
    after: fc.nat({ max: 200 }),
  }),
  listed: fc.constant({ before: 100, after: 92, least: 92 }),
  rows: fc.record({ seen: fc.nat({ max: 200 }), rejected: fc.nat({ max: 8 }) }),
  violations: fc.array(fc.constant({ rule: "id_unique", entity: "airports x" }), { maxLength: 2 }),
  messageBytes: fc.dictionary(
    fc.constantFrom("de", "en"),
    fc.integer({ min: 3.5 * MIB - 2, max: 3.5 * MIB + 2 }),
  ),
});

/** The facts with the value that tripped brought to its limit. */
function atLimit(facts: GuardFacts, { guard, list, locale, limit }: GuardTrip): GuardFacts {
  const { published, rows, fileRows } = facts;
  switch (guard) {
    case "guard_empty":
    case "guard_shrink":
      return { ...facts, counts: { ...facts.counts, ...(list && { [list]: limit }) } };
    case "guard_change":
      return {
        ...facts,
        published: published && {
          ...published,
          changes: someChanges(list && { [list]: { changed: limit } }),
        },
      };
    case "guard_rejects":
      return { ...facts, rows: { ...rows, rejected: limit } };
    case "guard_coverage":
      return { ...facts, coverage: { ...facts.coverage, ...(locale && { [locale]: limit }) } };
    case "guard_truncated":
      return { ...facts, fileRows: { ...fileRows, after: limit } };
    case "guard_integrity":
      return { ...facts, violations: facts.violations.slice(0, limit) };
    case "guard_message_size":
      return {
        ...facts,
        messageBytes: { ...facts.messageBytes, ...(locale && { [locale]: limit }) },
      };
    default:
      return guard satisfies never;
  }
}
