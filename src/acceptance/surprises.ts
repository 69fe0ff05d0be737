/** The rules of what a traveller would notice. Pure: no clock, no I/O. */
import { distanceKm } from "../catalog/positions.ts";
import { foldText } from "../catalog/fold.ts";
import type { SourceAirport } from "../sources/our-airports.ts";
import { type AcceptedAirport, isImportant } from "./airport.ts";
import { isSameName, shareWord } from "./airport-names.ts";
import type { Part, Rule } from "./held-change.ts";

/** How surprising is too surprising. */
export interface SurpriseLimits {
  /** Time for which upstream must say the same. */
  readonly holdMs: number;
  /** Longest unsurprising move, in kilometres. */
  readonly moveKm: number;
  /** Share of its airports, in percent, that a region may not lose at once. */
  readonly regionLossPercent: number;
}

/** What the reference tables know. */
export interface Places {
  /** Whether the city of this airport does not depend on what upstream writes. */
  readonly hasKnownCity: (id: string) => boolean;
  /** Key of the catalog's region for upstream's code; empty if it has none. */
  readonly regionOf: (code: string) => string;
}

/** Why upstream no longer lists an airport: its row is closed, has no code, or is gone. */
export type Fate = "closed" | "without_code" | undefined;

export function rulesOfDeparture(airport: AcceptedAirport, fate: Fate): Rule[] {
  if (!isImportant(airport)) return [];
  if (fate === undefined) return ["vanishes"];
  return [fate === "closed" ? "closes" : "loses_code"];
}

/** @param holder the airport of the catalog that has the code. */
export function rulesOfArrival(
  airport: SourceAirport,
  holder: AcceptedAirport | undefined,
): Rule[] {
  const rules: Rule[] = isImportant(airport) ? ["appears"] : [];
  if (holder !== undefined && isImportant(holder)) rules.push("takes_code");
  return rules;
}

/**
 * Finds what is surprising about the change of a part of an airport that stays listed.
 *
 * @param before the values that have settled.
 */
export function rulesOfChange(
  part: Exclude<Part, "listing">,
  before: AcceptedAirport,
  after: SourceAirport,
  { limits, places }: { readonly limits: SurpriseLimits; readonly places: Places },
): Rule[] {
  switch (part) {
    case "code":
      return before.iata === after.iata ? [] : ["changes_code"];
    case "name":
      return isKnownName(before, after) ? [] : ["changes_name"];
    case "service":
      return isDemoted(before, after) ? ["demoted"] : [];
    case "place":
      return rulesOfPlace(before, after, limits, places);
    default:
      return part satisfies never;
  }
}

function isDemoted(before: SourceAirport, after: SourceAirport): boolean {
  return (before.scheduled && !after.scheduled) || (isImportant(before) && !isImportant(after));
}

/** A name may also become that of the municipality. */
function isKnownName(before: AcceptedAirport, { name }: SourceAirport): boolean {
  return isSameName(name, before.name) || shareWord(name, `${before.name} ${before.municipality}`);
}

function rulesOfPlace(
  before: AcceptedAirport,
  after: SourceAirport,
  { moveKm }: SurpriseLimits,
  { hasKnownCity, regionOf }: Places,
): Rule[] {
  const rules: Rule[] = [];
  if (before.country !== after.country) rules.push("changes_country");
  if (distanceKm(before, after) > moveKm) rules.push("moves");
  const isOtherCity = foldText(before.municipality) !== foldText(after.municipality);
  if (isOtherCity && !hasKnownCity(before.id)) rules.push("loses_city");
  const region = regionOf(before.region);
  if (region !== "" && region !== regionOf(after.region)) rules.push("loses_region");
  return rules;
}
