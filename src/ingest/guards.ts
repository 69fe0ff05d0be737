/** Guards check a candidate before its publication. Pure. */
import type { ChangeCounts } from "../catalog/diff.ts";
import type { Counts } from "../catalog/model.ts";
import type { AirportSet, LocaleEntry, Manifest } from "../parts/manifest.ts";
import type { FileMeasure, Parsed } from "./accounting.ts";
import type { Content } from "./content.ts";
import { nameReasons } from "../sources/upstream-reader.ts";
import { type Guard, OVERRIDABLE } from "../schemas/overridable.ts";
import { LISTS } from "../schemas/lists.ts";

/** Largest permitted loss of a list, in percent of its published entities. */
export const SHRINK_MAX_PERCENT = 5;
/**
 * Most additions, changes and removals of a list together, in percent of its published entities.
 * From February 2025 to February 2026, 15 % of the airports changed. Additions count, so that the
 * guard also stops a source that suddenly triples. An entity with a new id counts twice.
 */
const CHANGE_MAX_PERCENT = 25;
/** Maximum share of rejected rows, in percent of the rows with an IATA code. */
const REJECTS_MAX_PERCENT = 2;
/** Largest permitted loss of a locale's coverage, in percentage points. */
const COVERAGE_LOSS_MAX_POINTS = 10;
/**
 * Longest protobuf message of a locale. gRPC clients refuse messages over 4 MiB by default; 3.5 MiB
 * leaves time to act. JSON is about twice as long, so no part comes near KV's limit of 25 MiB.
 */
export const MESSAGE_MAX_BYTES = 3.5 * 1024 * 1024;
const VIOLATIONS_NAMED = 5;

/** The published version, with the candidate's changes. */
export interface ComparedVersion extends Pick<Manifest, "airport_set" | "counts"> {
  readonly locales: { readonly [locale: string]: Pick<LocaleEntry, "coverage"> };
  /** Null if no copy of the published version is intact, so that the changes are unknown. */
  readonly changes: ChangeCounts | null;
}

export interface GuardInputs
  extends
    Pick<Parsed, "rows" | "measure" | "listed">,
    Pick<Content, "counts" | "messages" | "violations"> {
  /** Null before the first publication. */
  readonly published: ComparedVersion | null;
  readonly airportSet: AirportSet;
}

export interface GuardTrip {
  readonly guard: Guard;
  readonly list?: keyof Counts;
  readonly locale?: string;
  /** The value of the published version or of the last file; null if nothing is compared. */
  readonly before: number | null;
  readonly after: number;
  readonly limit: number;
  /** Such as `airports 9074 → 4120`. */
  readonly message: string;
}

/** Finds every tripped guard, the most severe first. */
export function checkGuards(inputs: GuardInputs): GuardTrip[] {
  const found = [...findTrips(inputs)];
  const first = found.find(({ guard }) => guard === "guard_shrink" || guard === "guard_change");
  const why = describeSwitch(inputs);
  return found.map((trip) => (trip === first ? { ...trip, message: trip.message + why } : trip));
}

/** Selects the tripped guards that refuse the run: those that `force` does not override (`OVERRIDABLE`). */
export function findRefusals(found: readonly GuardTrip[], force: boolean): GuardTrip[] {
  return found.filter(({ guard }) => !(force && OVERRIDABLE[guard]));
}

function* findTrips(inputs: GuardInputs): Generator<GuardTrip> {
  yield* checkEmpty(inputs);
  yield* checkIntegrity(inputs);
  yield* checkFile(inputs);
  if (inputs.published !== null) {
    yield* checkShrink(inputs.published, inputs);
    yield* checkChange(inputs.published, inputs);
  }
  yield* checkRejects(inputs);
  if (inputs.published !== null) yield* checkCoverage(inputs.published, inputs);
  yield* checkMessageSizes(inputs);
}

function* checkEmpty({ published, counts }: GuardInputs): Generator<GuardTrip> {
  for (const list of LISTS) {
    if (counts[list] > 0) continue;
    const before = published?.counts[list] ?? null;
    const message = `${list} ${before === null ? "" : `${before} → `}0`;
    yield { guard: "guard_empty", list, before, after: 0, limit: 1, message };
  }
}

function* checkIntegrity({ violations }: GuardInputs): Generator<GuardTrip> {
  if (violations.length === 0) return;
  const named = violations
    .slice(0, VIOLATIONS_NAMED)
    .map(({ rule, entity }) => `${rule}: ${entity}`);
  const unnamed = violations.length - named.length;
  if (unnamed > 0) named.push(`${unnamed} more`);
  const message = named.join("; ");
  yield { guard: "guard_integrity", before: null, after: violations.length, limit: 0, message };
}

/** Only its length shows that a file is truncated or has repeated rows. */
function* checkFile({ measure, listed }: GuardInputs): Generator<GuardTrip> {
  if (measure !== null) yield* checkLength(measure);
  const { before, after, least: limit } = listed;
  const message = `of ${before} airports that travellers use, upstream has ${after}`;
  if (after < limit)
    yield { guard: "guard_truncated", list: "airports", before, after, limit, message };
}

function* checkLength({
  listed,
  before,
  accepted,
  slackPercent,
}: FileMeasure): Generator<GuardTrip> {
  const describe = (usual: number) => {
    if (before === null)
      return `the catalog has ${usual} airports, and upstream's first file lists ${listed}`;
    return usual === before
      ? `upstream listed ${usual} airports and now lists ${listed}`
      : `the catalog has ${usual} airports, and upstream now lists ${listed}`;
  };
  const trip = (guard: Guard, usual: number, limit: number): GuardTrip => ({
    guard,
    before: usual,
    after: listed,
    limit,
    message: describe(usual),
  });
  const fewest = Math.min(before ?? accepted, accepted);
  const lowest = fewest - percentOf(fewest, slackPercent);
  if (listed < lowest) yield trip("guard_truncated", fewest, lowest);
  const most = Math.max(before ?? accepted, accepted);
  const highest = most + percentOf(most, slackPercent);
  if (listed > highest) yield trip("guard_padded", most, highest);
}

function* checkShrink(published: ComparedVersion, { counts }: GuardInputs): Generator<GuardTrip> {
  for (const list of LISTS) {
    const [before, after] = [published.counts[list], counts[list]];
    const limit = before - percentOf(before, SHRINK_MAX_PERCENT);
    const message = `${list} ${before} → ${after}`;
    if (after < limit) yield { guard: "guard_shrink", list, before, after, limit, message };
  }
}

/** Explains a change of the setting AIRPORTS; empty if it is unchanged. */
function describeSwitch({ published, airportSet }: GuardInputs): string {
  if (published === null || published.airport_set === airportSet) return "";
  return ` (AIRPORTS was "${published.airport_set}" and is now "${airportSet}"; if you intend this, approve the candidate with force)`;
}

/**
 * Without an intact copy of the published version, the guard checks only the growth of a list. Clients
 * then have no catalog, and a refusal would not bring it back.
 */
function* checkChange(
  { counts, changes }: ComparedVersion,
  candidate: Pick<GuardInputs, "counts">,
): Generator<GuardTrip> {
  for (const list of LISTS) {
    const all = counts[list];
    const grown = { added: Math.max(0, candidate.counts[list] - all), changed: 0, removed: 0 };
    const { added, changed, removed } = changes?.[list] ?? grown;
    const after = added + changed + removed;
    const limit = percentOf(all, CHANGE_MAX_PERCENT);
    const message = `${list} ${added} added, ${changed} changed, ${removed} removed of ${all}`;
    if (after > limit) yield { guard: "guard_change", list, before: null, after, limit, message };
  }
}

function* checkRejects({ rows }: GuardInputs): Generator<GuardTrip> {
  const { seen, rejected: after, reasons } = rows;
  const limit = percentOf(seen, REJECTS_MAX_PERCENT);
  const message = `${after} of ${seen} rows rejected, most often ${nameReasons(reasons)}; look at them in the run's rejects, and at the file`;
  if (after > limit) yield { guard: "guard_rejects", before: null, after, limit, message };
}

function* checkCoverage(published: ComparedVersion, inputs: GuardInputs): Generator<GuardTrip> {
  for (const [locale, { coverage: after }] of Object.entries(inputs.messages)) {
    const before = published.locales[locale]?.coverage;
    if (before === undefined) continue;
    // Coverage has four decimals. Integers avoid a rounding error at exactly the limit.
    const leastHundredths = hundredths(before) - COVERAGE_LOSS_MAX_POINTS * 100;
    if (hundredths(after) >= leastHundredths) continue;
    const limit = leastHundredths / 10_000;
    const message = `${locale} ${points(before)} % → ${points(after)} %`;
    yield { guard: "guard_coverage", locale, before, after, limit, message };
  }
}

function* checkMessageSizes({ messages }: GuardInputs): Generator<GuardTrip> {
  const limit = MESSAGE_MAX_BYTES;
  for (const [locale, { bytes: after }] of Object.entries(messages)) {
    const message = `the message in ${locale} has ${after} bytes, over ${limit}: gRPC clients would refuse it`;
    if (after > limit)
      yield { guard: "guard_message_size", locale, before: null, after, limit, message };
  }
}

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
