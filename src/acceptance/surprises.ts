/** The rules of what a traveller would notice. Pure: no clock, no I/O. */
import { distanceKm } from "../catalog/positions.ts";
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
  /** Share of the airports in use, in percent, that a whole file may lack. */
  readonly unlistedPercent: number;
}

/** What the reference tables know. */
export interface Places {
  /** Names the city that an airport has or would get. */
  readonly cityOf: (airport: SourceAirport) => string;
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
      return rulesOfName(before, after, places);
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

/** An airport that the snapshot does not know may be in the city that its name begins with. */
function rulesOfName(before: AcceptedAirport, { name }: SourceAirport, { cityOf }: Places): Rule[] {
  const rules: Rule[] = isKnownName(before, name) ? [] : ["changes_name"];
  if (cityOf({ ...before, name }) !== cityOf(before)) rules.push("loses_city");
  return rules;
}

/** A name may also become that of the municipality. */
function isKnownName(before: AcceptedAirport, name: string): boolean {
  return isSameName(name, before.name) || shareWord(name, `${before.name} ${before.municipality}`);
}

function rulesOfPlace(
  before: AcceptedAirport,
  after: SourceAirport,
  { moveKm }: SurpriseLimits,
  { cityOf, regionOf }: Places,
): Rule[] {
  const rules: Rule[] = [];
  if (before.country !== after.country) rules.push("changes_country");
  if (distanceKm(before, after) > moveKm) rules.push("moves");
  if (cityOf({ ...after, id: before.id, name: before.name }) !== cityOf(before))
    rules.push("loses_city");
  const region = regionOf(before.region);
  if (region !== "" && region !== regionOf(after.region)) rules.push("loses_region");
  return rules;
}
