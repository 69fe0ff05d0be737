/** Guards check a candidate before its publication. Pure: no clock, no I/O. */
import type { Listed } from "../acceptance/identity.ts";
import type { ChangeCounts } from "../catalog/diff.ts";
import type { Violation } from "../catalog/integrity.ts";
import type { AirportSet, Counts } from "../catalog/manifest.ts";

/** Largest permitted loss of a list, in percent of its published entities. */
export const SHRINK_MAX_PERCENT = 5;
/**
 * Most additions, changes and removals of a list together, in percent of its published entities.
 * From February 2025 to February 2026, 15 % of the airports changed. Additions count, so that the
 * guard also stops a source that suddenly triples. An entity with a new id counts twice.
 */
const CHANGE_MAX_PERCENT = 25;
/** Largest permitted loss of rows of upstream's file, which grows from year to year, in percent. */
const FILE_SHRINK_MAX_PERCENT = 2;
/** Most rejected rows, in percent of the rows with an IATA code. */
const REJECTS_MAX_PERCENT = 2;
/** Largest permitted loss of a locale's coverage, in percentage points. */
const COVERAGE_LOSS_MAX_POINTS = 10;
/**
 * Longest protobuf message of a locale. gRPC clients refuse messages over 4 MiB by default; 3.5 MiB
 * leaves time to act. JSON is about twice as long, so no segment comes near KV's limit of 25 MiB.
 */
export const MESSAGE_MAX_BYTES = 3.5 * 1024 * 1024;
/** Most violations in a message. */
const VIOLATIONS_NAMED = 5;

/** Whether an operator's `force` overrides each guard. */
const OVERRIDABLE = {
  guard_empty: false,
  guard_integrity: false,
  guard_truncated: true,
  guard_shrink: true,
  guard_change: true,
  guard_rejects: false,
  guard_coverage: true,
  guard_message_size: false,
} as const;

type Guard = keyof typeof OVERRIDABLE;

/** Coverage (0 to 1) by locale, as in the manifest. */
type Coverage = { readonly [locale: string]: number };

/** The published version, with the candidate's changes. */
export interface PublishedFacts {
  readonly airportSet: AirportSet;
  readonly counts: Counts;
  readonly coverage: Coverage;
  /** Null if no copy of the published version is intact, so that the changes are unknown. */
  readonly changes: ChangeCounts | null;
}

/** The inputs of the guards. */
export interface GuardFacts {
  /** Null before the first publication. */
  readonly published: PublishedFacts | null;
  readonly airportSet: AirportSet;
  readonly counts: Counts;
  readonly coverage: Coverage;
  /** Rows of the airports file. `seen` excludes the many rows without an IATA code. */
  readonly rows: { readonly seen: number; readonly rejected: number };
  /** Rows of the whole file, and of the one that was compared before it; null if none was. */
  readonly fileRows: { readonly before: number | null; readonly after: number };
  /** Airports of the catalog that travellers use, and those of them with a row in the file. */
  readonly listed: Listed;
  /** Violations of the integrity rules: broken references, duplicates, order, bad values. */
  readonly violations: readonly Violation[];
  /** Length of the identity protobuf message by locale. */
  readonly messageBytes: { readonly [locale: string]: number };
}

/** A tripped guard with its evidence. */
export interface GuardTrip {
  readonly guard: Guard;
  readonly list?: keyof Counts;
  readonly locale?: string;
  /** The published value or the number of rows; null if `after` has no reference value. */
  readonly before: number | null;
  /** The value of the candidate. */
  readonly after: number;
  /** The last value of `after` that passes. */
  readonly limit: number;
  /** Such as `airports 9074 → 4120`. */
  readonly message: string;
}

const LISTS = ["airports", "cities", "countries", "regions"] as const;

/** Finds every tripped guard, the gravest first. */
export function checkGuards(facts: GuardFacts): GuardTrip[] {
  const found = [...trips(facts)];
  const first = found.find(({ guard }) => guard === "guard_shrink" || guard === "guard_change");
  const why = describeSwitch(facts);
  return found.map((trip) => (trip === first ? { ...trip, message: trip.message + why } : trip));
}

/**
 * Separates the tripped guards that `force` overrides from those that refuse the run anyway. Only
 * shrinking, change and lost coverage can be intended; the others would break clients.
 */
export function applyForce(
  found: readonly GuardTrip[],
  force: boolean,
): { readonly refused: GuardTrip[]; readonly overridden: GuardTrip[] } {
  const isOverridden = ({ guard }: GuardTrip) => force && OVERRIDABLE[guard];
  return {
    refused: found.filter((trip) => !isOverridden(trip)),
    overridden: found.filter(isOverridden),
  };
}

function* trips(facts: GuardFacts): Generator<GuardTrip> {
  yield* checkEmpty(facts);
  yield* checkIntegrity(facts);
  yield* checkTruncated(facts);
  if (facts.published !== null) {
    yield* checkShrink(facts.published, facts);
    yield* checkChange(facts.published);
  }
  yield* checkRejects(facts);
  if (facts.published !== null) yield* checkCoverage(facts.published, facts);
  yield* checkMessageSizes(facts);
}

function* checkEmpty({ published, counts }: GuardFacts): Generator<GuardTrip> {
  for (const list of LISTS) {
    if (counts[list] > 0) continue;
    const before = published?.counts[list] ?? null;
    const message = `${list} ${before === null ? "" : `${before} → `}0`;
    yield { guard: "guard_empty", list, before, after: 0, limit: 1, message };
  }
}

function* checkIntegrity({ violations }: GuardFacts): Generator<GuardTrip> {
  if (violations.length === 0) return;
  const named = violations
    .slice(0, VIOLATIONS_NAMED)
    .map(({ rule, entity }) => `${rule}: ${entity}`);
  const unnamed = violations.length - named.length;
  if (unnamed > 0) named.push(`${unnamed} more`);
  const message = named.join("; ");
  yield { guard: "guard_integrity", before: null, after: violations.length, limit: 0, message };
}

/** A file that breaks off between two rows looks like any other. */
export function* checkTruncated({
  fileRows,
  listed,
}: Pick<GuardFacts, "fileRows" | "listed">): Generator<GuardTrip> {
  const guard = "guard_truncated";
  if (fileRows.before !== null) {
    const { before, after } = fileRows;
    const limit = before - percentOf(before, FILE_SHRINK_MAX_PERCENT);
    const message = `airports.csv had ${before} rows and now has ${after}`;
    if (after < limit) yield { guard, before, after, limit, message };
  }
  const { before, after, least: limit } = listed;
  const message = `of ${before} airports that travellers use, airports.csv has ${after}`;
  if (after < limit) yield { guard, before, after, limit, message };
}

function* checkShrink(published: PublishedFacts, { counts }: GuardFacts): Generator<GuardTrip> {
  for (const list of LISTS) {
    const [before, after] = [published.counts[list], counts[list]];
    const limit = before - percentOf(before, SHRINK_MAX_PERCENT);
    const message = `${list} ${before} → ${after}`;
    if (after < limit) yield { guard: "guard_shrink", list, before, after, limit, message };
  }
}

/** Explains a change of the setting AIRPORTS; empty if it is unchanged. */
function describeSwitch({ published, airportSet }: GuardFacts): string {
  if (published === null || published.airportSet === airportSet) return "";
  return ` (AIRPORTS was "${published.airportSet}" and is now "${airportSet}"; if you intend this, approve the candidate with force)`;
}

function* checkChange({ counts, changes }: PublishedFacts): Generator<GuardTrip> {
  if (changes === null) {
    const before = LISTS.reduce((sum, list) => sum + counts[list], 0);
    const limit = percentOf(before, CHANGE_MAX_PERCENT);
    const message = `no copy of the published version is intact: any of its ${before} entities may change`;
    yield { guard: "guard_change", before, after: before, limit, message };
    return;
  }
  for (const list of LISTS) {
    const { added, changed, removed } = changes[list];
    const [before, after] = [counts[list], added + changed + removed];
    const limit = percentOf(before, CHANGE_MAX_PERCENT);
    const message = `${list} ${added} added, ${changed} changed, ${removed} removed of ${before}`;
    if (after > limit) yield { guard: "guard_change", list, before, after, limit, message };
  }
}

function* checkRejects({ rows }: GuardFacts): Generator<GuardTrip> {
  const [before, after] = [rows.seen, rows.rejected];
  const limit = percentOf(before, REJECTS_MAX_PERCENT);
  const message = `${after} of ${before} rows rejected`;
  if (after > limit) yield { guard: "guard_rejects", before, after, limit, message };
}

/** Ignores locales that are not in both versions. */
function* checkCoverage(published: PublishedFacts, facts: GuardFacts): Generator<GuardTrip> {
  for (const [locale, after] of Object.entries(facts.coverage)) {
    const before = published.coverage[locale];
    if (before === undefined) continue;
    // Coverage has four decimals. Integers avoid a rounding error at exactly the limit.
    const leastHundredths = hundredths(before) - COVERAGE_LOSS_MAX_POINTS * 100;
    if (hundredths(after) >= leastHundredths) continue;
    const limit = leastHundredths / 10_000;
    const message = `${locale} ${points(before)} % → ${points(after)} %`;
    yield { guard: "guard_coverage", locale, before, after, limit, message };
  }
}

function* checkMessageSizes({ messageBytes }: GuardFacts): Generator<GuardTrip> {
  const limit = MESSAGE_MAX_BYTES;
  for (const [locale, after] of Object.entries(messageBytes)) {
    const message = `the message in ${locale} has ${after} bytes, over ${limit}: gRPC clients would refuse it`;
    if (after > limit)
      yield { guard: "guard_message_size", locale, before: null, after, limit, message };
  }
}

/** Rounds down to whole entities. */
function percentOf(count: number, percent: number): number {
  return Math.floor((count * percent) / 100);
}

/** Converts a share to hundredths of a percentage point. */
function hundredths(share: number): number {
  return Math.round(share * 10_000);
}

function points(share: number): number {
  return hundredths(share) / 100;
}
