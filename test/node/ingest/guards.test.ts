import { describe, expect, it } from "vitest";
import type { ChangeCounts } from "../../../src/catalog/diff.ts";
import type { ListChanges } from "../../../src/catalog/list-diff.ts";
import type { FileMeasure } from "../../../src/ingest/accounting.ts";
import type { Counts } from "../../../src/catalog/model.ts";
import {
  checkGuards,
  findRefusals,
  type GuardInputs,
  type GuardTrip,
  type ComparedVersion,
} from "../../../src/ingest/guards.ts";

const LISTS = ["airports", "cities", "countries", "regions"] as const;
const MIB = 1024 * 1024;

/** Lengths of the lists of a world of about the real size. */
const WORLD: Counts = { airports: 9074, cities: 8559, countries: 250, regions: 2152 };

function someChanges(
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

const aMessage = (changes: Partial<GuardInputs["messages"][string]> = {}) => ({
  sha256: "0".repeat(64),
  bytes: 1_700_000,
  coverage: 1,
  ...changes,
});

/** A published world in two locales. */
const aPublished = (changes: Partial<ComparedVersion> = {}): ComparedVersion => ({
  airport_set: "all",
  counts: WORLD,
  locales: { de: { coverage: 0.98 }, en: { coverage: 1 } },
  changes: someChanges(),
  ...changes,
});

const aMeasure = (changes: Partial<FileMeasure> = {}): FileMeasure => ({
  listed: 9074,
  before: 9074,
  accepted: 9074,
  slackPercent: 2,
  ...changes,
});

/** A candidate from a file that lists so many airports. */
const listing = (listed: number, measure: Partial<FileMeasure> = {}) =>
  someInputs({ measure: aMeasure({ listed, ...measure }) });

/** A candidate that is the same as what is published. */
const someInputs = (changes: Partial<GuardInputs> = {}): GuardInputs => ({
  published: aPublished(),
  airportSet: "all",
  counts: WORLD,
  messages: { de: aMessage({ coverage: 0.98 }), en: aMessage() },
  rows: { seen: 9074, rejected: 0, reasons: {} },
  measure: aMeasure(),
  listed: { before: 5000, after: 5000, least: 4600 },
  violations: [],
  ...changes,
});

const EVERYTHING_WRONG = someInputs({
  published: aPublished({ changes: someChanges({ regions: { removed: 2152 } }) }),
  counts: { ...WORLD, regions: 0 },
  messages: { en: aMessage({ coverage: 0.5, bytes: 4 * MIB }) },
  rows: { seen: 10, rejected: 5, reasons: { bad_text: 5 } },
  measure: aMeasure({ before: 100, accepted: 100, listed: 10 }),
  listed: { before: 100, after: 91, least: 92 },
  violations: [{ rule: "list_not_empty", entity: "regions" }],
});

const guardsOf = (trips: readonly GuardTrip[]) => trips.map(({ guard }) => guard);

const withCounts = (counts: Partial<Counts>, published: ComparedVersion | null = aPublished()) =>
  someInputs({ counts: { ...WORLD, ...counts }, published });
const withChanges = (airports: Partial<ListChanges>) =>
  someInputs({ published: aPublished({ changes: someChanges({ airports }) }) });
const withRejects = (seen: number, rejected: number) =>
  someInputs({
    rows: {
      seen,
      rejected,
      reasons: { unknown_country: rejected - 3, bad_text: 1, bad_iata: 1, missing_required: 1 },
    },
    published: null,
  });
const withCoverage = (before: number, after: number) =>
  someInputs({
    published: aPublished({ locales: { de: { coverage: before } } }),
    messages: { de: aMessage({ coverage: after }) },
  });

it("the guards pass a candidate equal to the published version, and any first version", () => {
  expect(checkGuards(someInputs())).toEqual([]);
  const counts = { airports: 1, cities: 1, countries: 1, regions: 1 };
  expect(checkGuards(withCounts(counts, null))).toEqual([]);
});

describe("a guard", () => {
  const measured = (measure: Partial<FileMeasure>) => (listed: number) => listing(listed, measure);
  const withUsed = (after: number) => someInputs({ listed: { before: 5000, after, least: 4600 } });
  const withAllChanges = (all: number) =>
    withChanges({ changed: all - 800, added: 400, removed: 400 });
  const withUnknownChanges = (grown: number) =>
    withCounts({ airports: 9074 + grown }, aPublished({ changes: null }));
  const withLength = (bytes: number) => someInputs({ messages: { uk: aMessage({ bytes }) } });
  const broken = (count: number) =>
    Array.from({ length: count }, () => ({ rule: "city_id_resolves", entity: "airport ZRH" }));

  /** What it checks, the value to compare with, the last that passes and the first that does not. */
  const LIMITS: [
    GuardTrip["guard"],
    (value: number) => GuardInputs,
    number | null,
    number,
    number,
  ][] = [
    ["guard_empty", (airports) => withCounts({ airports }, null), null, 1, 0],
    ["guard_integrity", (count) => someInputs({ violations: broken(count) }), null, 0, 1],
    ["guard_truncated", listing, 9_074, 8_893, 8_892],
    ["guard_padded", listing, 9_074, 9_255, 9_256],
    ["guard_padded", measured({ before: null, slackPercent: 8 }), 9_074, 9_799, 9_800],
    ["guard_truncated", measured({ before: 9_758 }), 9_074, 8_893, 8_892],
    ["guard_padded", measured({ before: 8_440 }), 9_074, 9_255, 9_256],
    ["guard_truncated", measured({ before: 8_440 }), 8_440, 8_272, 8_271],
    ["guard_padded", measured({ before: 9_758 }), 9_758, 9_953, 9_954],
    ["guard_truncated", withUsed, 5_000, 4_600, 4_599],
    ["guard_shrink", (airports) => withCounts({ airports }), 9_074, 8_621, 8_620],
    ["guard_change", withAllChanges, null, 2_268, 2_269],
    ["guard_change", withUnknownChanges, null, 2_268, 2_269],
    ["guard_rejects", (count) => withRejects(9_074, count), null, 181, 182],
    ["guard_coverage", (after) => withCoverage(0.98, after), 0.98, 0.88, 0.8799],
    ["guard_message_size", withLength, null, 3_670_016, 3_670_017],
  ];

  it.each(LIMITS)(
    "passes a value at the limit, and shows the value beyond it: %s, case %#",
    (guard, inputsOf, before, limit, after) => {
      expect(checkGuards(inputsOf(limit))).toEqual([]);
      const found = checkGuards(inputsOf(after));
      expect(found).toHaveLength(1);
      expect(found).toMatchObject([{ guard, before, after, limit }]);
    },
  );

  it("describes in words what it has checked", () => {
    const messages = LIMITS.map(
      ([, inputsOf, , , trips]) => checkGuards(inputsOf(trips))[0]?.message,
    );
    expect(messages).toEqual([
      "airports 0",
      "city_id_resolves: airport ZRH",
      "upstream listed 9074 airports and now lists 8892",
      "upstream listed 9074 airports and now lists 9256",
      "the catalog has 9074 airports, and upstream's first file lists 9800",
      "the catalog has 9074 airports, and upstream now lists 8892",
      "the catalog has 9074 airports, and upstream now lists 9256",
      "upstream listed 8440 airports and now lists 8271",
      "upstream listed 9758 airports and now lists 9954",
      "of 5000 airports that travellers use, upstream has 4599",
      "airports 9074 → 8620",
      "airports 400 added, 1469 changed, 400 removed of 9074",
      "airports 2269 added, 0 changed, 0 removed of 9074",
      "182 of 9074 rows rejected, most often unknown_country 179, bad_text 1, bad_iata 1; look at them in the run's rejects, and at the file",
      "de 98 % → 87.99 %",
      "the message in uk has 3670017 bytes, over 3670016: gRPC clients would refuse it",
    ]);
  });

  it("names the list or the locale", () => {
    const named = checkGuards(EVERYTHING_WRONG).map(({ list, locale }) => list ?? locale);
    const [empty, file, listed] = ["regions", undefined, "airports"];
    const rest = ["regions", "regions", undefined, "en", "en"];
    expect(named).toEqual([empty, undefined, file, listed, ...rest]);
  });
});

describe("the guards", () => {
  it.each(LISTS)("check each list, such as that of the %s", (list) => {
    const published = aPublished({ counts: { ...WORLD, [list]: 100 } });
    expect(checkGuards(withCounts({ [list]: 95 }, published))).toEqual([]);
    const found = checkGuards(withCounts({ [list]: 94 }, published));
    expect(found).toMatchObject([{ guard: "guard_shrink", list }]);
    expect(guardsOf(checkGuards(withCounts({ [list]: 0 }, null)))).toEqual(["guard_empty"]);
  });

  it("let coverage fall by exactly ten points, wherever it starts", () => {
    const starts = Array.from({ length: 9_000 }, (_, n) => 1_001 + n);
    const trippedByLosing = (loss: number) =>
      starts.filter(
        (start) => checkGuards(withCoverage(start / 1e4, (start - loss) / 1e4)).length > 0,
      );
    expect(trippedByLosing(1_000)).toEqual([]);
    expect(trippedByLosing(1_001)).toEqual(starts);
  });
});

it("the guards look at each list alone, so that a small list cannot change unnoticed", () => {
  const changes = someChanges({ countries: { changed: 63 }, regions: { changed: 538 } });
  expect(checkGuards(someInputs({ published: aPublished({ changes }) }))).toMatchObject([
    { guard: "guard_change", list: "countries", after: 63, limit: 62 },
  ]);
});

it("the guards explain once that the setting AIRPORTS has changed", () => {
  const published = aPublished({ changes: someChanges({ airports: { removed: 9000 } }) });
  const inputs = withCounts({ airports: 74, cities: 10 }, published);
  const messages = checkGuards({ ...inputs, airportSet: "scheduled" }).map(
    ({ message }) => message,
  );
  expect(messages.length).toBeGreaterThan(2);
  expect(messages.filter((message) => message.includes("AIRPORTS was"))).toEqual([
    expect.stringMatching(/^airports 9074 → 74 \(AIRPORTS was "all" and is now "scheduled"/),
  ]);
});

it("the guards compare the embedded file with no other", () => {
  expect(checkGuards({ ...listing(10), measure: null })).toEqual([]);
});

it("the guards name the first five broken rules and count the rest", () => {
  const violations = Array.from({ length: 7 }, (_, n) => ({ rule: "id_unique", entity: `${n}` }));
  const named = [0, 1, 2, 3, 4].map((n) => `id_unique: ${n}`);
  const message = [...named, "2 more"].join("; ");
  expect(checkGuards(someInputs({ violations }))).toMatchObject([{ after: 7, message }]);
});

it("the guards ignore a locale that is dropped, and one that is new, however little it covers", () => {
  const messages = { en: aMessage(), xx: aMessage({ coverage: 0 }) };
  expect(checkGuards(someInputs({ messages }))).toEqual([]);
});

describe("findRefusals", () => {
  const trips = checkGuards(EVERYTHING_WRONG);

  it("refuses every guard that trips without force, the most severe first", () => {
    expect(guardsOf(trips)).toEqual([
      "guard_empty",
      "guard_integrity",
      "guard_truncated",
      "guard_truncated",
      "guard_shrink",
      "guard_change",
      "guard_rejects",
      "guard_coverage",
      "guard_message_size",
    ]);
    expect(findRefusals(trips, false)).toEqual(trips);
  });

  it("lets force override truncation, shrinking, change and lost coverage, and nothing else", () => {
    expect(guardsOf(findRefusals(trips, true))).toEqual([
      "guard_empty",
      "guard_integrity",
      "guard_rejects",
      "guard_message_size",
    ]);
  });
});
