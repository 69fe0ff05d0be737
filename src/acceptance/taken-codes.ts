/** No two airports may have the same code. Pure. */
import type { Accepted } from "./airport.ts";
import type { Judged } from "./comparison.ts";
import type { Rule } from "./held-change.ts";

/**
 * Holds back what would give an airport the code of another one. Two airports may exchange their
 * codes in one run.
 */
export function blockTakenCodes(accepted: Accepted, judged: readonly Judged[]): readonly Judged[] {
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
