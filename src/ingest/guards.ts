/**
 * Guards: what a candidate must not be before anything of it is published.
 * Pure: no clock, no I/O.
 */
import type { ChangeCounts } from "../catalog/diff.ts";
import type { Violation } from "../catalog/integrity.ts";
import type { AirportSet, Counts } from "../catalog/manifest.ts";

/** Share of a list's published entities that may go, in percent. */
export const SHRINK_MAX_PERCENT = 5;
/**
 * Entities of a list that may be added, changed or removed together, in percent of its published
 * entities. Added ones count, so that a source which suddenly holds three times the rows is held
 * back; an entity that comes back under another id counts twice.
 */
export const CHANGE_MAX_PERCENT = 10;
/** Share of the rows with an IATA code that may be rejected, in percent. */
export const REJECTS_MAX_PERCENT = 2;
/** How much coverage a locale may lose, in percentage points. */
export const COVERAGE_LOSS_MAX_POINTS = 10;
/**
 * Length of the protobuf message of one locale. gRPC clients refuse messages over 4 MiB by default;
 * 3.5 leave room to act before they do. No segment of such a message comes near the 25 MiB that a
 * value of KV may have: its JSON is about twice as long.
 */
export const MESSAGE_MAX_BYTES = 3.5 * 1024 * 1024;
/** Broken rules that a trip names. */
const VIOLATIONS_NAMED = 5;

/** Each guard, and whether an operator's `force` may override it. */
const OVERRIDABLE = {
  guard_empty: false,
  guard_integrity: false,
  guard_shrink: true,
  guard_change: true,
  guard_rejects: false,
  guard_coverage: true,
  guard_message_size: false,
} as const;

export type Guard = keyof typeof OVERRIDABLE;

/** Coverage (0 to 1) by locale, as in the manifest. */
export type Coverage = { readonly [locale: string]: number };

/** The published version, and what the candidate would change in it. */
export interface PublishedFacts {
  readonly airportSet: AirportSet;
  readonly counts: Counts;
  readonly coverage: Coverage;
  /** Null if no copy of it is whole, so that nobody knows. */
  readonly changes: ChangeCounts | null;
}

/** All that the guards look at. */
export interface GuardFacts {
  /** Null before the first publication: there is nothing to shrink, change or lose. */
  readonly published: PublishedFacts | null;
  readonly airportSet: AirportSet;
  readonly counts: Counts;
  readonly coverage: Coverage;
  /** Rows of the airports file. `seen` leaves out those without an IATA code, which are many. */
  readonly rows: { readonly seen: number; readonly rejected: number };
  /** What the integrity rules found: broken references, duplicates, order, bad values. */
  readonly violations: readonly Violation[];
  /** Length of the identity protobuf message by locale. */
  readonly messageBytes: { readonly [locale: string]: number };
}

/** A guard that refuses a candidate, with its evidence. */
export interface GuardTrip {
  readonly guard: Guard;
  readonly list?: keyof Counts;
  readonly locale?: string;
  /** What `after` is measured against: the published value or the rows seen; null if nothing. */
  readonly before: number | null;
  /** What was found. */
  readonly after: number;
  /** The last value of `after` that would have passed. */
  readonly limit: number;
  /** Such as `airports 9074 → 4120`. */
  readonly message: string;
}

const LISTS = ["airports", "cities", "countries", "regions"] as const;

/** Every guard that the facts trip, the gravest first; empty if the candidate may be published. */
export function checkGuards(facts: GuardFacts): GuardTrip[] {
  return [...trips(facts)];
}

/**
 * Parts the trips that an operator's `force` overrides from those that refuse the run all the same.
 * Only shrinking, change and coverage can be meant; the rest would break clients.
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
  if (facts.published !== null) {
    yield* checkShrink(facts.published, facts);
    yield* checkChange(facts.published, facts);
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

function* checkShrink(published: PublishedFacts, facts: GuardFacts): Generator<GuardTrip> {
  const { counts } = facts;
  for (const list of LISTS) {
    const [before, after] = [published.counts[list], counts[list]];
    const limit = before - percentOf(before, SHRINK_MAX_PERCENT);
    const message = `${list} ${before} → ${after}${describeSwitch(published, facts)}`;
    if (after < limit) yield { guard: "guard_shrink", list, before, after, limit, message };
  }
}

/** What an operator is to know who has just changed AIRPORTS; empty if nobody has. */
function describeSwitch(published: PublishedFacts, { airportSet }: GuardFacts): string {
  if (published.airportSet === airportSet) return "";
  return ` (AIRPORTS was "${published.airportSet}" and is "${airportSet}"; if that is meant, approve the candidate with force)`;
}

function* checkChange(published: PublishedFacts, facts: GuardFacts): Generator<GuardTrip> {
  const { counts, changes } = published;
  if (changes === null) {
    const before = LISTS.reduce((sum, list) => sum + counts[list], 0);
    const limit = percentOf(before, CHANGE_MAX_PERCENT);
    const message = `no copy of what is published is whole: any of its ${before} entities may change`;
    yield { guard: "guard_change", before, after: before, limit, message };
    return;
  }
  for (const list of LISTS) {
    const { added, changed, removed } = changes[list];
    const [before, after] = [counts[list], added + changed + removed];
    const limit = percentOf(before, CHANGE_MAX_PERCENT);
    const message = `${list} ${added} added, ${changed} changed, ${removed} removed of ${before}${describeSwitch(published, facts)}`;
    if (after > limit) yield { guard: "guard_change", list, before, after, limit, message };
  }
}

function* checkRejects({ rows }: GuardFacts): Generator<GuardTrip> {
  const [before, after] = [rows.seen, rows.rejected];
  const limit = percentOf(before, REJECTS_MAX_PERCENT);
  const message = `${after} of ${before} rows rejected`;
  if (after > limit) yield { guard: "guard_rejects", before, after, limit, message };
}

/** A locale that is new, or that is taken out of those to publish, has none to lose. */
function* checkCoverage(published: PublishedFacts, facts: GuardFacts): Generator<GuardTrip> {
  for (const [locale, after] of Object.entries(facts.coverage)) {
    const before = published.coverage[locale];
    if (before === undefined) continue;
    // Coverage has four decimals; in whole numbers a loss of exactly the limit is no more than it.
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

/** Whole entities in a percentage of `count`. */
function percentOf(count: number, percent: number): number {
  return Math.floor((count * percent) / 100);
}

/** A share in hundredths of a percentage point. */
function hundredths(share: number): number {
  return Math.round(share * 10_000);
}

function points(share: number): number {
  return hundredths(share) / 100;
}
