/**
 * Takes over what upstream says, airport by airport. What a traveller would notice is held back: the
 * last good value stays until upstream has said the same for long enough or an operator approves
 * it. Pure: no clock, no I/O.
 */
import { compareText } from "../catalog/integrity.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import { timeText } from "../storage/time-text.ts";
import {
  type Accepted,
  type AcceptedAirport,
  isSameValue,
  type Ledger,
  valuesOf,
} from "./airport.ts";
import {
  type Decision,
  type HeldChange,
  type Part,
  PARTS,
  type Rule,
  type Values,
} from "./held-change.ts";
import { heldId } from "./held-id.ts";
import { matchAirports, type Pair } from "./identity.ts";
import {
  type Fate,
  type Places,
  rulesOfArrival,
  rulesOfChange,
  rulesOfDeparture,
  type SurpriseLimits,
} from "./surprises.ts";

/** What upstream says. */
export interface UpstreamAirports {
  /** Open airports. Codes and row numbers are unique. */
  readonly airports: readonly SourceAirport[];
  /** Why rows of the catalog's airports are not among them, by row number. */
  readonly fates: ReadonlyMap<string, NonNullable<Fate>>;
  /** Row numbers of airports whose names say that they are not in use. */
  readonly unopened: ReadonlySet<string>;
  /** Rows of the file. */
  readonly seen: number;
}

export interface Comparison {
  readonly ledger: Ledger;
  readonly upstream: UpstreamAirports;
  readonly decisions: readonly Decision[];
  readonly limits: SurpriseLimits;
  readonly places: Places;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly runId: string;
}

/** A change by upstream. */
interface Change {
  readonly airport: AcceptedAirport;
  readonly part: Part;
  readonly before: Values;
  readonly after: Values;
  /** What upstream says: the airport, or why it is not listed. */
  readonly said: SourceAirport | Fate;
  readonly rules: readonly Rule[];
}

/** A change as it is held, and whether nothing holds it any more. */
interface Judged {
  readonly change: Change;
  readonly held: HeldChange;
  readonly isFree: boolean;
}

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
      ...apply(ledger.accepted, pairs, settled),
      rows: upstream.seen,
    },
    held: [...held, ...stillDecided(ledger.held, settled, pairs)].toSorted(
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
    const rules = rulesOfChange(part, accepted, upstream, comparison);
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

/** Regions with fewer airports may lose any. */
const REGION_MIN_AIRPORTS = 4;

/** Adds the rule of regions that lose many airports at once, whatever their size. */
function withRegionRule(
  changes: readonly Change[],
  { ledger, limits, places }: Comparison,
): readonly Change[] {
  const regionOf = ({ region }: SourceAirport) => places.regionOf(region);
  const leaves = (change: Change) =>
    change.before !== null &&
    (change.after === null ||
      (change.part === "place" &&
        places.regionOf(String(change.after["region"])) !== regionOf(change.airport)));
  const had = Map.groupBy(ledger.accepted.airports, regionOf);
  const lost = Map.groupBy(changes.filter(leaves), ({ airport }) => regionOf(airport));
  const isEmptied = (region: string) => {
    const [all, gone] = [had.get(region)?.length ?? 0, lost.get(region)?.length ?? 0];
    const isKnown = region !== "" && all >= REGION_MIN_AIRPORTS;
    return isKnown && gone * 100 >= all * limits.regionLossPercent;
  };
  return changes.map((change) =>
    leaves(change) && isEmptied(regionOf(change.airport))
      ? { ...change, rules: [...change.rules, "region_emptied"] }
      : change,
  );
}

/** @param known the changes that are held, by id. */
function judge(
  change: Change,
  known: ReadonlyMap<string, HeldChange>,
  comparison: Comparison,
): Judged {
  const { airport, part, before, after, said, rules } = change;
  const { decisions, limits, now } = comparison;
  const id = heldId(airport.id, part, said);
  const seen = known.get(id);
  const decision = decisions.findLast((each) => each.id === id);
  const held: HeldChange = {
    id,
    airport: airport.id,
    iata: airport.iata,
    name: airport.name,
    part,
    rules,
    before,
    after,
    ...(seen === undefined ? seenFirst(comparison) : seenAgain(seen, now)),
    ...(decision && decided(decision)),
  };
  return { change, held, isFree: mayPass(held, limits, now) };
}

function mayPass(held: HeldChange, limits: SurpriseLimits, now: number): boolean {
  switch (held.state) {
    case "approved":
      return true;
    case "rejected":
    case "corrected":
      return false;
    case "waiting":
      return held.rules.length === 0 || isRipe(held, limits, now);
    default:
      return held.state satisfies never;
  }
}

/** What the runs have seen of a change, and what was decided about it. */
type Progress = Omit<
  HeldChange,
  "id" | "airport" | "iata" | "name" | "part" | "rules" | "before" | "after"
>;

function seenFirst({ now, runId }: Comparison): Progress {
  const at = timeText(now);
  const seen = { since: at, last_seen: at, days_seen: 1, run_id: runId };
  return { state: "waiting", ...seen, decided_by: null, decided_at: null, note: null };
}

function seenAgain(held: HeldChange, now: number): Progress {
  const { state, run_id, decided_by, decided_at, note } = held;
  const at = timeText(now);
  // After a gap nobody knows what upstream has said. A time ahead of now comes from a wrong clock.
  const isUnbroken = now - Date.parse(held.last_seen) <= GAP_MS && held.since <= at;
  const since = isUnbroken ? held.since : at;
  const isNewDay = at.slice(0, 10) > held.last_seen.slice(0, 10);
  const days_seen = isUnbroken ? held.days_seen + (isNewDay ? 1 : 0) : 1;
  return { state, since, last_seen: at, days_seen, run_id, decided_by, decided_at, note };
}

function decided({ verdict, by, at, note }: Decision) {
  return { state: verdict, decided_by: by, decided_at: at, note };
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Longest time between two runs that have seen the same: a day, and half of one for a late run. */
const GAP_MS = 1.5 * DAY_MS;
/** The first of some daily runs may have been late, and the last one on time. */
const LATENESS_MS = 60 * 60 * 1000;

/** Whether every run of enough days has seen the change. */
function isRipe(held: HeldChange, { holdMs }: SurpriseLimits, now: number): boolean {
  const isLong = now - Date.parse(held.since) >= holdMs - LATENESS_MS;
  return isLong && held.days_seen * DAY_MS >= holdMs;
}

/**
 * Holds back what would give an airport the code of another one. Two airports may exchange their
 * codes in one run.
 */
function blockTakenCodes(accepted: Accepted, judged: readonly Judged[]): readonly Judged[] {
  const takers = findTakers(accepted, judged);
  if (takers.size === 0) return judged;
  const block = ({ change, held }: Judged): Judged => {
    const rules = [...new Set<Rule>([...held.rules, "takes_code"])];
    return { change, held: { ...held, rules }, isFree: false };
  };
  // Who keeps a code may be in the way of another airport.
  return blockTakenCodes(
    accepted,
    judged.map((each) => (takers.has(each) ? block(each) : each)),
  );
}

/** Finds the free changes after which two airports would have the same code. */
function findTakers(accepted: Accepted, judged: readonly Judged[]): ReadonlySet<Judged> {
  const codes = new Map(accepted.airports.map(({ id, iata }) => [id, iata]));
  const free = judged.filter((each) => each.isFree);
  const takers = free.filter(({ change: { airport, after } }) => {
    const code = after?.["iata"];
    return code !== undefined && code !== codes.get(airport.id);
  });
  for (const { change } of free) if (change.after === null) codes.delete(change.airport.id);
  for (const { change } of takers) codes.set(change.airport.id, String(change.after?.["iata"]));
  const uses = Map.groupBy(codes.values(), (code) => code);
  return new Set(
    takers.filter(({ change }) => uses.get(String(change.after?.["iata"]))?.length !== 1),
  );
}

/** Takes over the free changes, and the present row numbers. */
function apply(
  accepted: Accepted,
  pairs: readonly Pair[],
  judged: readonly Judged[],
): Pick<Accepted, "airports" | "gone"> {
  const airports = new Map(
    pairs.map(({ accepted: airport, upstream }) => [
      airport.id,
      upstream === undefined ? airport : { ...airport, row: upstream.id },
    ]),
  );
  const gone = new Map(accepted.gone.map((airport) => [airport.id, airport]));
  for (const { change, isFree } of judged) {
    const { airport, before, after } = change;
    const { id, row, iata, lat, lon } = airport;
    if (!isFree) continue;
    if (after === null) {
      airports.delete(id);
      gone.set(id, { id, row, iata, lat, lon });
    } else {
      gone.delete(id);
      const present = before === null ? airport : airports.get(id);
      airports.set(id, { ...present, ...after } as AcceptedAirport); // a part of an airport
    }
  }
  const byCode = (a: { iata: string; id: string }, b: { iata: string; id: string }) =>
    compareText(a.iata, b.iata) || compareText(a.id, b.id);
  return {
    airports: [...airports.values()].toSorted(byCode),
    gone: [...gone.values()].toSorted(byCode),
  };
}

/**
 * Selects what stays rejected or corrected though upstream says something else at present: until a
 * change of that part is taken over, or upstream lists what is served.
 */
function stillDecided(
  held: readonly HeldChange[],
  judged: readonly Judged[],
  pairs: readonly Pair[],
): HeldChange[] {
  const partOf = (airport: string, part: Part) => `${airport}-${part}`;
  const ids = new Set(judged.map((each) => each.held.id));
  const changed = new Map(
    judged.map(({ change: { airport, part }, isFree }) => [partOf(airport.id, part), isFree]),
  );
  const listed = new Set(pairs.filter((pair) => pair.upstream).map(({ accepted }) => accepted.id));
  return held.filter(({ id, airport, part, state, after }) => {
    if (ids.has(id) || (state !== "rejected" && state !== "corrected")) return false;
    const isTakenOver = changed.get(partOf(airport, part));
    if (isTakenOver !== undefined) return !isTakenOver;
    return part === "listing" ? after !== null || !listed.has(airport) : !listed.has(airport);
  });
}
