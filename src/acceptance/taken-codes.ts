/** Ensures that no two airports have the same IATA or ICAO code. Pure. */
import { AIRPORT_TYPES, type SourceAirport } from "../catalog/source-airport.ts";
import type { AcceptedAirport } from "./airport.ts";

/** A change of an airport that keeps its id. */
interface CodeChange {
  readonly before: AcceptedAirport | null;
  readonly after: AcceptedAirport | null;
}

/** The codes of an airport: `iata ZRH` and `icao LSZH`. */
export function codesOf({ iata, icao }: Pick<SourceAirport, "iata" | "icao">): string[] {
  return icao === "" ? [`iata ${iata}`] : [`iata ${iata}`, `icao ${icao}`];
}

/**
 * Finds the changes that must wait, because they would give an airport a code that another one keeps.
 * Airports may exchange their codes in one run. If several want a code that nobody keeps, the airport
 * of the larger type gets it, then the one with the lower number.
 *
 * @param present the airports before all changes.
 * @param changes at most one for each airport.
 */
export function findTakers<C extends CodeChange>(
  present: readonly AcceptedAirport[],
  changes: readonly C[],
): ReadonlySet<C> {
  const served = new Map(present.map((airport) => [airport.id, airport]));
  const applied = new Map(changes.map((change) => [idOf(change), change]));
  const takers = new Set<C>();
  /** Ids of the airports that would have each code. */
  const users = new Map<string, Set<string>>();
  const unseen: string[] = [];
  const use = (id: string, airport: AcceptedAirport | null | undefined) => {
    for (const code of airport ? codesOf(airport) : []) {
      users.set(code, (users.get(code) ?? new Set()).add(id));
      unseen.push(code);
    }
  };
  const block = (id: string) => {
    const change = applied.get(id);
    if (change === undefined) return;
    takers.add(change);
    applied.delete(id);
    for (const code of change.after ? codesOf(change.after) : []) users.get(code)?.delete(id);
    use(id, served.get(id));
  };
  const isClaim = (code: string, id: string) => {
    const airport = served.get(id);
    return applied.has(id) && (airport === undefined || !codesOf(airport).includes(code));
  };
  /** Blocks the claims to codes that another airport keeps. A blocked airport keeps its codes. */
  const blockClaims = () => {
    for (let code = unseen.pop(); code !== undefined; code = unseen.pop()) {
      const ids = [...(users.get(code) ?? [])];
      const claims = ids.filter((id) => isClaim(code, id));
      if (claims.length < ids.length) claims.forEach(block);
    }
  };
  for (const airport of present) if (!applied.has(airport.id)) use(airport.id, airport);
  for (const [id, { after }] of applied) use(id, after);
  blockClaims();
  for (const ids of users.values()) {
    const claimants = [...ids].flatMap((id) => applied.get(id)?.after ?? []);
    const [, ...late] = claimants.toSorted(byClaim);
    if (ids.size > 1) late.forEach(({ id }) => block(id));
    blockClaims();
  }
  return takers;
}

/** Leaves an ICAO code of several airports to the one with the best claim, and removes it from the others. */
export function withoutSharedCodes(airports: readonly AcceptedAirport[]): AcceptedAirport[] {
  const worstFirst = airports.toSorted((a, b) => byClaim(b, a));
  const owners = new Map(worstFirst.map(({ icao, id }) => [icao, id]));
  return airports.map((airport) =>
    airport.icao === "" || owners.get(airport.icao) === airport.id
      ? airport
      : { ...airport, icao: "" },
  );
}

function idOf({ before, after }: CodeChange): string {
  return (before ?? after)?.id ?? "";
}

function byClaim(a: AcceptedAirport, b: AcceptedAirport): number {
  const rank = ({ type }: AcceptedAirport) => AIRPORT_TYPES.indexOf(type);
  return rank(a) - rank(b) || Number(a.id) - Number(b.id);
}
