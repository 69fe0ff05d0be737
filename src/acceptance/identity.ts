/**
 * Matches upstream's rows with airports. Upstream renumbers and restores rows, and airports get other
 * codes; the ids of the catalog outlive both. Pure.
 */
import { isNear } from "../catalog/positions.ts";
import type { SourceAirport } from "../catalog/source-airport.ts";
import {
  type Accepted,
  type AcceptedAirport,
  type GoneAirport,
  isImportant,
  type UpstreamAirports,
} from "./airport.ts";

/** An airport of the catalog with its row at upstream; undefined if upstream does not list it. */
export interface Pair {
  readonly accepted: AcceptedAirport;
  readonly upstream: SourceAirport | undefined;
}

interface Matched {
  readonly pairs: readonly Pair[];
  /** Airports that only upstream lists, with the ids that they have or get. */
  readonly arrivals: readonly AcceptedAirport[];
}

/** An arrival whose row number is taken gets the first free id from this number plus its row's. */
const RENUMBERED_FROM = 2_000_000_000;

/**
 * Pairs the airports of the catalog with upstream's rows. A row is the airport
 *
 * 1. of the same row number and code, wherever it is, or
 * 2. of the same code within 10 km, unless it is the only row of another airport near it, or
 * 3. of the same row number within 10 km: it has another code now.
 *
 * So a code that moves elsewhere is another airport. An airport that comes back gets its former id.
 *
 * @param upstream airports with unique codes and row numbers.
 */
export function matchAirports(accepted: Accepted, upstream: readonly SourceAirport[]): Matched {
  const free = new Set(upstream);
  const byCode = new Map(upstream.map((airport) => [airport.iata, airport]));
  const byRow = new Map(upstream.map((airport) => [airport.id, airport]));
  const take = (found: SourceAirport | undefined) =>
    found !== undefined && free.delete(found) ? found : undefined;
  const near = (found: SourceAirport | undefined, airport: GoneAirport) =>
    found !== undefined && isNear(found, airport) ? found : undefined;
  const owners = new Map<string, GoneAirport>(
    accepted.airports.map((airport) => [airport.row, airport]),
  );
  /** Whether a row is the last one of another airport. */
  const isNeeded = (row: SourceAirport) => {
    const owner = owners.get(row.id);
    if (owner === undefined || !isNear(row, owner)) return false;
    return near(byCode.get(owner.iata), owner) === undefined;
  };
  const ways: readonly ((airport: GoneAirport) => SourceAirport | undefined)[] = [
    ({ row, iata }) => (byRow.get(row)?.iata === iata ? byRow.get(row) : undefined),
    (airport) => {
      const found = near(byCode.get(airport.iata), airport);
      return found !== undefined && isNeeded(found) ? undefined : found;
    },
    (airport) => near(byRow.get(airport.row), airport),
  ];
  const pairUp = <A extends GoneAirport>(airports: readonly A[]) => {
    const found = new Map<A, SourceAirport>();
    for (const way of ways)
      for (const airport of airports) {
        const row = found.has(airport) ? undefined : take(way(airport));
        if (row !== undefined) found.set(airport, row);
      }
    return found;
  };
  const listed = pairUp(accepted.airports);
  const back = pairUp(accepted.gone);
  const pairs = accepted.airports.map((airport) => ({
    accepted: airport,
    upstream: listed.get(airport),
  }));
  const returned = [...back].map(([{ id }, row]) => ({ ...row, id, row: row.id }));
  return { pairs, arrivals: [...returned, ...newcomers(accepted, free)] };
}

export interface Listed {
  readonly before: number;
  /** Airports with a row in upstream's file. */
  readonly after: number;
  /** Fewest of them in a whole file. */
  readonly least: number;
}

/** Counts the airports that travellers use, and those of them with a row of their number or code. */
export function countListed(
  accepted: readonly AcceptedAirport[],
  { airports, delistedRows }: Pick<UpstreamAirports, "airports" | "delistedRows">,
  unlistedPercent: number,
): Listed {
  const rows = new Set([...delistedRows.keys(), ...airports.map(({ id }) => id)]);
  const codes = new Set(airports.map(({ iata }) => iata));
  const used = accepted.filter(isImportant);
  const listed = used.filter(({ row, iata }) => rows.has(row) || codes.has(iata));
  const before = used.length;
  const least = before - Math.floor((before * unlistedPercent) / 100);
  return { before, after: listed.length, least };
}

function newcomers(accepted: Accepted, rows: ReadonlySet<SourceAirport>): AcceptedAirport[] {
  const taken = new Set([...accepted.airports, ...accepted.gone].map(({ id }) => id));
  return [...rows].map((row) => {
    let { id } = row;
    for (let next = RENUMBERED_FROM + Number(id); taken.has(id); next++) id = String(next);
    taken.add(id);
    return { ...row, id, row: row.id };
  });
}
