/** A region may not lose many airports within the time of a hold, however small they are. Pure. */
import type { Accepted } from "./airport.ts";
import type { Change, Comparison } from "./comparison.ts";
import { isRipe } from "./seen.ts";

/** Regions with fewer airports may lose any. */
const REGION_MIN_AIRPORTS = 4;

/** Adds the rule to the changes by which airports leave such a region. */
export function withRegionRule(
  changes: readonly Change[],
  comparison: Comparison,
): readonly Change[] {
  const { ledger, limits, places } = comparison;
  const homes = settledRegions(ledger.accepted, comparison);
  const present = new Map(
    ledger.accepted.airports.map(({ id, region }) => [id, places.regionOf(region)]),
  );
  const next = new Map(present);
  for (const { airport, after } of changes)
    if (after === null) next.delete(airport.id);
    else if ("region" in after) next.set(airport.id, places.regionOf(String(after["region"])));
  const emptied = new Set<string>();
  for (const [region, ids] of Map.groupBy(homes.keys(), (id) => homes.get(id) ?? "")) {
    const lost = ids.filter((id) => next.get(id) !== region).length;
    const isKnown = region !== "" && ids.length >= REGION_MIN_AIRPORTS;
    if (isKnown && lost * 100 >= ids.length * limits.regionLossPercent) emptied.add(region);
  }
  const leaves = ({ airport: { id }, part, before }: Change) =>
    before !== null &&
    (part === "listing" || part === "place") &&
    next.get(id) !== present.get(id) &&
    next.get(id) !== homes.get(id);
  return changes.map((change) =>
    leaves(change) && emptied.has(homes.get(change.airport.id) ?? "")
      ? { ...change, rules: [...change.rules, "region_emptied"] }
      : change,
  );
}

/** The regions of airports by id, as they were before the changes that have not settled yet. */
function settledRegions(
  { airports, gone }: Accepted,
  { limits, places, now }: Pick<Comparison, "limits" | "places" | "now">,
): ReadonlyMap<string, string> {
  const regions = new Map<string, string>();
  for (const { id, region, unsettled } of airports)
    regions.set(id, places.regionOf(String(unsettled?.place?.settled?.["region"] ?? region)));
  for (const { id, left } of gone)
    if (left !== undefined && !isRipe(left, limits.holdMs, now))
      regions.set(id, places.regionOf(left.region));
  return regions;
}
