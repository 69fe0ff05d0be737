/**
 * Takes over what upstream says, airport by airport. What a traveller would notice is held back: the
 * last good value stays until upstream has said the same for long enough or an operator approves
 * it. Pure: no clock, no I/O.
 */
import { compareText } from "../catalog/integrity.ts";
import {
  type Accepted,
  type AcceptedAirport,
  type GoneAirport,
  goneOf,
  isImportant,
  isSameValue,
  type Ledger,
  settledOf,
  valuesOf,
} from "./airport.ts";
import type { Change, Comparison, Judged } from "./comparison.ts";
import { withRegionRule } from "./emptied-regions.ts";
import { type HeldChange, newHeldChange, type Part, PARTS, withDecision } from "./held-change.ts";
import { heldId } from "./held-id.ts";
import { matchAirports, type Pair } from "./identity.ts";
import { heldOfOthers, isOfOther } from "./other-sources.ts";
import { isRipe, seenAgain, seenNow } from "./seen.ts";
import {
  rulesOfArrival,
  rulesOfChange,
  rulesOfDeparture,
  type SurpriseLimits,
} from "./surprises.ts";
import { blockTakenCodes } from "./taken-codes.ts";
import { hasWaited, settle, takeOver, withUnsettled } from "./unsettled.ts";

/** Compares upstream with the ledger. Equal arguments give equal results. */
export function acceptUpstream(comparison: Comparison): Ledger {
  const { ledger, upstream } = comparison;
  const { pairs, arrivals } = matchAirports(ledger.accepted, upstream.airports);
  const opened = arrivals.filter(({ row }) => !upstream.unopened.has(row));
  const changes = [
    ...departures(pairs, comparison),
    ...pairs.flatMap((pair) => partChanges(pair, comparison)),
    ...arrivalsOf(opened, ledger.accepted),
  ];
  const known = new Map(ledger.held.map((held) => [held.id, held]));
  const judged = withRegionRule(changes, comparison).map((change) =>
    judge(change, known, comparison),
  );
  const settled = blockTakenCodes(ledger.accepted, judged);
  const held = settled.flatMap((each) => (each.isFree ? [] : [each.held]));
  return {
    accepted: {
      ...ledger.accepted,
      ...apply(pairs, settled, comparison),
      rows: upstream.seen,
    },
    held: [...held, ...stillHeld(settled, pairs, comparison)].toSorted(
      (a, b) => compareText(a.iata, b.iata) || compareText(a.id, b.id),
    ),
  };
}

function departures(pairs: readonly Pair[], { upstream }: Comparison): Change[] {
  return pairs
    .filter((pair) => pair.upstream === undefined)
    .map(({ accepted: airport }) => {
      const said = upstream.fates.get(airport.row);
      const rules = rulesOfDeparture(airport, said);
      const before = valuesOf("listing", airport);
      return { airport, part: "listing", before, after: null, said, rules };
    });
}

function partChanges({ accepted, upstream }: Pair, comparison: Comparison): Change[] {
  if (upstream === undefined) return [];
  return PARTS.flatMap((part) => {
    if (part === "listing") return [];
    const [before, after] = [valuesOf(part, accepted), valuesOf(part, upstream)];
    if (isSameValue(before, after)) return [];
    const rules = isImportant(accepted)
      ? rulesOfChange(part, settledOf(accepted), upstream, comparison)
      : [];
    return [{ airport: accepted, part, before, after, said: upstream, rules }];
  });
}

function arrivalsOf(arrivals: readonly AcceptedAirport[], accepted: Accepted): Change[] {
  const holders = new Map(accepted.airports.map((airport) => [airport.iata, airport]));
  return arrivals.map((airport) => ({
    airport,
    part: "listing",
    before: null,
    after: valuesOf("listing", airport),
    said: airport,
    rules: rulesOfArrival(airport, holders.get(airport.iata)),
  }));
}

/** @param known the changes that are held, by id. */
function judge(
  change: Change,
  known: ReadonlyMap<string, HeldChange>,
  comparison: Comparison,
): Judged {
  const { decisions, limits, now } = comparison;
  const id = heldId(change.airport.id, change.part, change.said);
  const seen = known.get(id);
  const first = newHeldChange({ ...change, id, rules: rulesOf(change, seen) }, comparison);
  const found = seen === undefined ? first : { ...first, ...progressOf(seen, comparison) };
  const held = withDecision(found, decisions);
  return { change, held, isFree: mayPass(held, limits, now) };
}

/** What emptied a region on one day still surprises when the region counts fewer airports. */
function rulesOf({ rules }: Change, seen: HeldChange | undefined): Change["rules"] {
  const wasEmptied = seen?.rules.includes("region_emptied") === true;
  return wasEmptied && !rules.includes("region_emptied") ? [...rules, "region_emptied"] : rules;
}

function mayPass(held: HeldChange, limits: SurpriseLimits, now: number): boolean {
  switch (held.state) {
    case "approved":
      return true;
    case "rejected":
    case "corrected":
      return false;
    case "waiting":
      return held.rules.length === 0 || isRipe(held, limits.holdMs, now);
    default:
      return held.state satisfies never;
  }
}

/** What the runs have seen of a change, this one included, and what was decided about it. */
function progressOf(held: HeldChange, { now, source }: Comparison) {
  const { state, run_id, decided_by, decided_at, note } = held;
  const seen = seenAgain(held, now);
  const isNewDay = seen.last_seen.slice(0, 10) > held.last_seen.slice(0, 10);
  const days_seen = seen.since === held.since ? held.days_seen + (isNewDay ? 1 : 0) : 1;
  // Only the source that a decision is about can end it.
  const itsSource = state === "waiting" || held.days_seen === 0 ? source : held.source;
  const decided = { decided_by, decided_at, note };
  return { state, ...seen, days_seen, run_id, source: itsSource, ...decided };
}

/** Takes over the free changes, and the present row numbers. */
function apply(
  pairs: readonly Pair[],
  judged: readonly Judged[],
  { ledger, limits: { holdMs }, now }: Comparison,
): Pick<Accepted, "airports" | "gone"> {
  const airports = new Map(
    pairs.map(({ accepted: airport, upstream }) => [
      airport.id,
      upstream === undefined
        ? airport
        : { ...settle(airport, upstream, { now, holdMs }), row: upstream.id },
    ]),
  );
  const gone = new Map(ledger.accepted.gone.map((airport) => [airport.id, airport]));
  for (const each of judged) {
    const { airport, after } = each.change;
    const { id } = airport;
    if (!each.isFree) continue;
    if (after === null) {
      airports.delete(id);
      const left = { region: settledOf(airport).region, since: seenNow(now).since };
      gone.set(id, { ...goneOf(airport), ...(!hasWaited(each.held, { now, holdMs }) && { left }) });
    } else {
      const { left } = gone.get(id) ?? {};
      gone.delete(id);
      const present = airports.get(id);
      const accepted =
        present === undefined
          ? comeBack(airport, left, now)
          : takeOver(present, each, { now, holdMs });
      airports.set(id, accepted);
    }
  }
  const byCode = (a: { iata: string; id: string }, b: { iata: string; id: string }) =>
    compareText(a.iata, b.iata) || compareText(a.id, b.id);
  return {
    airports: [...airports.values()].toSorted(byCode),
    gone: [...gone.values()].toSorted(byCode),
  };
}

/** An airport that left another region lately has not settled where it is now. */
function comeBack(airport: AcceptedAirport, left: GoneAirport["left"], now: number) {
  if (left === undefined || left.region === airport.region) return airport;
  const settled = { ...valuesOf("place", airport), region: left.region };
  const { last_seen } = seenNow(now);
  return withUnsettled(airport, "place", { settled, since: left.since, last_seen });
}

/**
 * Selects what stays held though upstream does not say it at present: what other sources have said,
 * and what is rejected or corrected, until a change of that part is taken over, or upstream lists
 * what is served.
 */
function stillHeld(
  judged: readonly Judged[],
  pairs: readonly Pair[],
  comparison: Comparison,
): HeldChange[] {
  const partOf = (airport: string, part: Part) => `${airport}-${part}`;
  const ids = new Set(judged.map((each) => each.held.id));
  const changed = new Map(
    judged.map(({ change: { airport, part }, isFree }) => [partOf(airport.id, part), isFree]),
  );
  const listed = new Set(pairs.filter((pair) => pair.upstream).map(({ accepted }) => accepted.id));
  const unseen = comparison.ledger.held.filter(({ id }) => !ids.has(id));
  const decided = unseen.filter((held) => {
    const { airport, part, state } = held;
    if (isOfOther(held, comparison) || (state !== "rejected" && state !== "corrected"))
      return false;
    const isTakenOver = changed.get(partOf(airport, part));
    return isTakenOver === undefined ? !listed.has(airport) : !isTakenOver;
  });
  return [...heldOfOthers(unseen, comparison), ...decided];
}
