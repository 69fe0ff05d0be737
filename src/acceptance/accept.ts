/**
 * Accepts upstream's changes, airport by airport. A change waits, and the airport stays as it is, until
 * upstream has said the same for long enough or an operator approves it. Pure: no clock, no I/O.
 */
import { compareText } from "../catalog/integrity.ts";
import { distanceKm } from "../catalog/positions.ts";
import { node } from "../platform/node.ts";
import { cutToNow } from "../platform/time.ts";
import type { DelistedReason } from "../catalog/source-airport.ts";
import {
  type Accepted,
  type AcceptedAirport,
  goneOf,
  type Ledger,
  recordOf,
  SAME_POSITION_KM,
  type UpstreamAirports,
} from "./airport.ts";
import { correctAirports } from "./corrections.ts";
import { type HeldChange, heldChangeSchema } from "../schemas/held-change.ts";
import { changeTimes } from "../schemas/stored-times.ts";
import { byChange, byRank, GAP_MS, isUnbroken, withDecision } from "./decisions.ts";
import { type AcceptRun, heldId, holdFor, isFree, type Subject } from "./hold.ts";
import { matchAirports, type Pair } from "./identity.ts";
import { acceptRegionNames } from "./region-names.ts";
import { type Change, findRules, type RegionOf } from "./rules.ts";
import { findTakers, withoutSharedCodes } from "./taken-codes.ts";

interface Comparison extends AcceptRun {
  readonly upstream: UpstreamAirports;
  /** The snapshot's names of subdivisions, by code. */
  readonly regionNames: ReadonlyMap<string, string>;
  readonly regionOf: RegionOf;
}

/** A change of an airport that keeps its id. */
interface WantedChange extends Change {
  readonly before: AcceptedAirport | null;
  readonly after: AcceptedAirport | null;
}

interface ListedChange extends WantedChange {
  readonly before: AcceptedAirport;
}

/** A change, and how it is held if it must wait. */
interface AssessedChange {
  readonly change: WantedChange;
  readonly held: HeldChange;
  readonly isFree: boolean;
}

/**
 * Restarts the wait of changes that a wrong clock has dated in the future. But if a time is less far in
 * the future than two runs may be apart, the clock may have been set back since. Then the times stay,
 * and this run counts as if at the latest of them, so that no wait gets shorter.
 */
function withoutFuture<R extends AcceptRun>(run: R): R {
  const { ledger, now, recorded = [] } = run;
  const held = ledger.held.map((change) =>
    changeTimes(heldChangeSchema, change, (time, toleranceMs) =>
      cutToNow(time, now, Math.max(toleranceMs, 2 * GAP_MS)),
    ),
  );
  const known = [...recorded, ...held.map(({ last_seen }) => Date.parse(last_seen))];
  const seenAt = Math.max(now, ...known.filter((time) => time <= now + GAP_MS));
  return { ...run, seenAt, ledger: { ...ledger, held } };
}

/** Compares upstream with the ledger. Equal arguments give equal results. */
export function acceptUpstream(asStored: Comparison): Ledger {
  const comparison = withoutFuture(asStored);
  const { ledger, upstream, corrections, regionNames, regionOf } = comparison;
  const accepted = {
    ...ledger.accepted,
    airports: withoutSharedCodes(ledger.accepted.airports),
  };
  const { airports, overruled } = correctAirports(upstream.airports, corrections, accepted);
  const { pairs, arrivals } = matchAirports(accepted, airports);
  // The row of an airport that the snapshot knows as closed counts as closed, not as missing.
  const closed = overruled.flatMap(({ observed, ours }) =>
    observed !== null && ours === null ? [observed] : [],
  );
  const delistedRows = new Map<string, DelistedReason>([
    ...upstream.delistedRows,
    ...closed.map(({ id }) => [id, "closed"] as const),
  ]);
  const taken = new Set(pairs.map((pair) => pair.upstream?.id));
  const listed = pairs.map((pair) => keepRow(pair, taken, followRow(pair, delistedRows)));
  const present = listed.map(({ before }) => before);
  const changes: WantedChange[] = [
    ...listed.filter(isDifferent),
    ...arrivals
      .filter(({ row }) => !upstream.unopened.has(row))
      .map((after) => ({ before: null, after })),
  ];
  const heldBefore = ledger.held.filter(({ source }) => source === comparison.source);
  const rules = findRules(changes, present, heldBefore, regionOf);
  const hold = holdFor(comparison);
  const names = acceptRegionNames(comparison);
  const isNamed = (code: string) =>
    regionOf(code) !== code || Object.hasOwn(names.regions, code) || regionNames.has(code);
  const assessed = blockTakenCodes(
    present,
    changes.map((change) => {
      const held = hold(subjectOf(change), rules.get(change) ?? []);
      const isKept = held.state !== "approved" && losesRegion(change, isNamed);
      return { change, held, isFree: !isKept && isFree(held, comparison.now) };
    }),
  );
  const held = [
    ...assessed.filter((assessment) => !assessment.isFree).map((assessment) => assessment.held),
    ...names.held,
    ...overruled.map(({ observed, ours }) =>
      hold(subjectOf({ before: ours, after: observed }), [], "corrected"),
    ),
  ];
  const seen = new Set(
    [...assessed.map((assessment) => assessment.held), ...names.changes, ...held].map(
      ({ id }) => id,
    ),
  );
  const unseen = ledger.held.filter(({ id }) => !seen.has(id));
  const free = assessed.filter((assessment) => assessment.isFree).map(({ change }) => change);
  return {
    accepted: {
      ...applyChanges(present, accepted.gone, free),
      regions: names.regions,
      codedRows: upstream.coded,
    },
    held: [...held, ...heldOfOthers(unseen, comparison)].toSorted(byRank),
  };
}

/**
 * Keeps the row number of an airport whose record differs, unless that row now belongs to another
 * airport. The change may be a mistake: if upstream restores the former row, that row is the airport
 * again, and not the row that took its code.
 *
 * @param taken numbers of the rows that are airports of the catalog.
 */
function keepRow(
  { accepted: { row } }: Pair,
  taken: ReadonlySet<string | undefined>,
  change: ListedChange,
): ListedChange {
  if (!isDifferent(change) || taken.has(row)) return change;
  return { ...change, before: { ...change.before, row } };
}

/** Accepts the present row number and a small correction of the position; the rest must wait. */
function followRow(
  { accepted, upstream: row }: Pair,
  delistedRows: UpstreamAirports["delistedRows"],
): ListedChange {
  const delisted = delistedRows.get(accepted.row);
  if (row === undefined && delisted === "unusable") return { before: accepted, after: accepted };
  if (row === undefined) return { before: accepted, after: null, delisted };
  const { id, lat, lon, anchor = { lat, lon } } = accepted;
  const after = { ...row, id, row: row.id };
  if (distanceKm(anchor, row) > SAME_POSITION_KM)
    return { before: { ...accepted, row: row.id }, after };
  const isInPlace = row.lat === anchor.lat && row.lon === anchor.lon;
  const position = { lat: row.lat, lon: row.lon, ...(!isInPlace && { anchor }) };
  const { anchor: _, ...airport } = accepted;
  return { before: { ...airport, row: row.id, ...position }, after: { ...after, ...position } };
}

function isDifferent({ before, after }: WantedChange): boolean {
  return (
    before === null ||
    after === null ||
    !node.util.isDeepStrictEqual(recordOf(before), recordOf(after))
  );
}

/** Describes a change. Its id ignores a small correction of the position, which does not wait. */
function subjectOf({ before, after, delisted }: Change): Subject {
  const airport = before ?? after;
  if (airport === null) throw new Error("a change of no airport");
  const { id, iata, name } = airport;
  const wanted = after && recordOf(after);
  const isInPlace = before?.lat === after?.lat && before?.lon === after?.lon;
  const identity = isInPlace && wanted !== null ? { ...wanted, lat: null, lon: null } : wanted;
  return {
    id: heldId(id, identity ?? delisted ?? null),
    airport: id,
    iata,
    name,
    before: before && recordOf(before),
    after: wanted,
    isMissing: after === null && delisted === undefined,
  };
}

/** Whether a change leads to a subdivision without a name: upstream's regions may be older than its airports. */
function losesRegion({ before, after }: WantedChange, isNamed: (code: string) => boolean): boolean {
  return before !== null && after !== null && isNamed(before.region) && !isNamed(after.region);
}

function blockTakenCodes(
  present: readonly AcceptedAirport[],
  assessed: readonly AssessedChange[],
): readonly AssessedChange[] {
  const free = assessed.filter((assessment) => assessment.isFree).map(({ change }) => change);
  const takers = findTakers(present, free);
  return assessed.map((assessment) =>
    takers.has(assessment.change) ? { ...assessment, isFree: false } : assessment,
  );
}

function applyChanges(
  present: readonly AcceptedAirport[],
  gone: Accepted["gone"],
  free: readonly WantedChange[],
): Pick<Accepted, "airports" | "gone"> {
  const airports = new Map(present.map((airport) => [airport.id, airport]));
  const left = new Map(gone.map((airport) => [airport.id, airport]));
  for (const { before, after } of free)
    if (after !== null) {
      left.delete(after.id);
      airports.set(after.id, after);
    } else if (before !== null) {
      airports.delete(before.id);
      left.set(before.id, goneOf(before));
    }
  const byCode = (a: { iata: string; id: string }, b: { iata: string; id: string }) =>
    compareText(a.iata, b.iata) || compareText(a.id, b.id);
  return {
    airports: [...airports.values()].toSorted(byCode),
    gone: [...left.values()].toSorted(byCode),
  };
}

/** Selects other sources' changes, which this run cannot assess, except those whose wait would start again. */
function heldOfOthers(held: readonly HeldChange[], run: AcceptRun): HeldChange[] {
  const verdicts = byChange(run.decisions);
  return held
    .filter(({ source, state }) => source !== run.source && state !== "corrected")
    .map((change) => withDecision(change, verdicts))
    .filter((change) => change.state !== "waiting" || isUnbroken(change, run.now));
}

/** Accepts all airports and names of a source that people have checked, and no others. */
export function trustUpstream(
  asStored: AcceptRun,
  { airports, regions }: Pick<UpstreamAirports, "airports" | "regions">,
): Ledger {
  const run = withoutFuture(asStored);
  const { accepted, held } = run.ledger;
  const rows = new Map(accepted.airports.map(({ id, row }) => [id, row]));
  const listed = new Set(airports.map(({ id }) => id));
  const others = [...accepted.airports, ...accepted.gone].filter(({ id }) => !listed.has(id));
  const hold = holdFor(run);
  const corrected = run.corrections.map(({ written = null, ours = null }) =>
    hold(subjectOf({ before: ours, after: written }), [], "corrected"),
  );
  return {
    accepted: {
      airports: airports.map((airport) => ({
        ...airport,
        row: rows.get(airport.id) ?? airport.id,
      })),
      gone: others.map(goneOf),
      regions: Object.fromEntries(regions),
      codedRows: accepted.codedRows,
    },
    held: [...corrected, ...heldOfOthers(held, run)].toSorted(byRank),
  };
}
