/** The rules that say which changes an operator should look at first. Pure: no clock, no I/O. */
import { foldText } from "../catalog/fold.ts";
import { distanceKm } from "../catalog/positions.ts";
import type { DelistedReason, SourceAirport } from "../catalog/source-airport.ts";
import { type AcceptedAirport, isImportant } from "./airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import { type HeldRule, HELD_RULES, MOVE_KM } from "../schemas/held-rules.ts";
import { gainsObscenity } from "./obscene-words.ts";
import { codesOf } from "./taken-codes.ts";

export interface Change {
  /** The served airport; null if it is not served. */
  readonly before: SourceAirport | null;
  /** Upstream's airport; null if upstream does not list it. */
  readonly after: SourceAirport | null;
  /** Why the airport's row does not list it; undefined if there is no row. */
  readonly delisted?: DelistedReason | undefined;
}

/** Names the catalog's region for upstream's code; empty if it has none. */
export type RegionOf = (code: string) => string;

/** Regions with fewer airports may lose any. */
const REGION_MIN_AIRPORTS = 4;
/** If more airports lose their scheduled service at once, the list is probably a mistake. */
const SERVICES_LOST_MAX = 10;
/** A region that loses this share of its airports is worth a look. */
const REGION_LOSS_SHARE = 0.5;

/**
 * Finds the rules that each change trips, the most urgent first.
 *
 * @param accepted the airports before these changes.
 * @param held the changes of this source that were held before. The airports of a list of lost
 * services stay marked even if others of the list are approved or fixed.
 */
export function findRules(
  changes: readonly Change[],
  accepted: readonly AcceptedAirport[],
  held: readonly HeldChange[],
  regionOf: RegionOf,
): ReadonlyMap<Change, readonly HeldRule[]> {
  const holders = new Map(
    accepted.flatMap((airport) => codesOf(airport).map((code) => [code, airport.id])),
  );
  const takesCode = (after: SourceAirport) =>
    codesOf(after).some((code) => (holders.get(code) ?? after.id) !== after.id);
  const emptied = findEmptiedRegions(changes, accepted, regionOf);
  const isList = changes.filter(losesService).length > SERVICES_LOST_MAX;
  const listed = new Set(
    held.flatMap(({ airport, rules }) => (rules.includes("service_lost") ? [airport] : [])),
  );
  const rulesOf = (change: Change): HeldRule[] => {
    const { before, after } = change;
    const rules = new Set(rulesOfUse(change, regionOf));
    if (turnsObscene(before, after)) rules.add("obscene");
    if (losesService(change) && (isList || listed.has(before?.id ?? null)))
      rules.add("service_lost");
    if (after !== null && takesCode(after)) rules.add("changes_code");
    if (leftRegion(before, after, regionOf).some((region) => emptied.has(region)))
      rules.add(after === null ? "leaves" : "moves");
    return HELD_RULES.filter((rule) => rules.has(rule));
  };
  return new Map(changes.map((change) => [change, rulesOf(change)]));
}

/** Finds the changes that travellers may notice of an airport that they use, or would use. */
function rulesOfUse({ before, after, delisted }: Change, regionOf: RegionOf): HeldRule[] {
  const wasUsed = before !== null && isImportant(before);
  const isUsed = after !== null && isImportant(after);
  if (!wasUsed && !isUsed) return [];
  if (after === null) return ["leaves"];
  if (before === null) return ["appears"];
  const rules: HeldRule[] = wasUsed ? [] : ["appears"];
  const isElsewhere =
    before.country !== after.country ||
    leftRegion(before, after, regionOf).length > 0 ||
    distanceKm(before, after) > MOVE_KM;
  if (isElsewhere) rules.push("moves");
  if (before.iata !== after.iata) rules.push("changes_code");
  const names = [after.name, after.municipality];
  if (!names.every((name) => isKnownName(name, before)) || gainsWord(after.name, before))
    rules.push("changes_name");
  if (losesService({ before, after, delisted }) || (wasUsed && !isUsed)) rules.push("demoted");
  return rules;
}

/** Whether an airport loses its scheduled service, in whatever way. */
function losesService({ before, after, delisted }: Change): boolean {
  const isThere = after !== null || delisted !== undefined;
  return isThere && before?.scheduled === true && after?.scheduled !== true;
}

/** Whether a change brings an obscene word into an airport's name or municipality. */
function turnsObscene(before: SourceAirport | null, after: SourceAirport | null): boolean {
  if (after === null) return false;
  const known = before === null ? [] : [before.name, before.municipality];
  return [after.name, after.municipality].some((name) => gainsObscenity(name, known));
}

/** The region that an airport leaves, if it was in one. */
function leftRegion(
  before: SourceAirport | null,
  after: SourceAirport | null,
  regionOf: RegionOf,
): string[] {
  const region = before === null ? "" : regionOf(before.region);
  return region === "" || (after !== null && regionOf(after.region) === region) ? [] : [region];
}

/** Finds the regions that lose many of their airports, however small these are. */
function findEmptiedRegions(
  changes: readonly Change[],
  accepted: readonly AcceptedAirport[],
  regionOf: RegionOf,
): ReadonlySet<string> {
  const left = changes.flatMap(({ before, after }) => leftRegion(before, after, regionOf));
  const airports = Map.groupBy(accepted, ({ region }) => regionOf(region));
  const isEmptied = (region: string, lost: number) => {
    const count = airports.get(region)?.length ?? 0;
    return count >= REGION_MIN_AIRPORTS && lost >= count * REGION_LOSS_SHARE;
  };
  const losses = [...Map.groupBy(left, (region) => region)];
  return new Set(
    losses.flatMap(([region, { length }]) => (isEmptied(region, length) ? region : [])),
  );
}

/** Words that do not distinguish airports: kinds, titles, directions and articles. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "airport airfield airstrip aerodrome aeropuerto aeroporto air base airbase heliport helipad " +
    "seaplane station field international regional municipal domestic memorial national county " +
    "city island islands new old north south east west general captain president king queen " +
    "prince princess doctor dr saint st san santa sao el la las los le les al the of and de do da del"
  ).split(" "),
);
/** Two spellings of one word share this many first letters. */
const STEM_LENGTH = 5;
/** Maximum number of letters by which another form of a word is longer: Heathrowsucks is no form of Heathrow. */
const INFLECTION_LENGTH = 3;

/**
 * Whether a name shares a distinctive word with the airport or its municipality, or differs from
 * one of their names only in spaces and hyphens, as `La Guardia` does.
 */
export function isKnownName(
  written: string,
  { name, municipality }: Pick<SourceAirport, "name" | "municipality">,
): boolean {
  return [name, municipality].some(
    (known) => isSameName(written, known) || shareWord(written, known),
  );
}

/** Whether a name has a distinctive word that neither the airport's nor its municipality has. */
function gainsWord(
  written: string,
  { name, municipality }: Pick<SourceAirport, "name" | "municipality">,
): boolean {
  const known = [name, municipality];
  const words = known.flatMap(tellingWords);
  // McAlester and Mc Alester
  const joined = known.map((text) => foldText(text).replaceAll("-", ""));
  const isKnown = (word: string) =>
    words.some(
      (other) => isAlike(word, other) && word.length - other.length <= INFLECTION_LENGTH,
    ) ||
    (word.length >= STEM_LENGTH && joined.some((text) => text.includes(word)));
  const foreign = new Set(known.flatMap(foreignWordsOf));
  if (!foreignWordsOf(written).every((word) => foreign.has(word))) return true;
  return !known.some((text) => isSameName(written, text)) && !tellingWords(written).every(isKnown);
}

/** Returns the words of a name with letters of other scripts, which do not fold to Latin ones. */
function foreignWordsOf(name: string): string[] {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => /(?!\p{Script=Latin})\p{L}/u.test(word));
}

function isSameName(a: string, b: string): boolean {
  const [one, other] = [foldText(a), foldText(b)];
  // Names without Latin letters fold to nothing.
  if (one === "" && other === "") return a === b;
  return one.replaceAll("-", "") === other.replaceAll("-", "");
}

function shareWord(a: string, b: string): boolean {
  const others = tellingWords(b);
  return tellingWords(a).some((word) => others.some((other) => isAlike(word, other)));
}

function tellingWords(name: string): string[] {
  return foldText(name)
    .split("-")
    .filter((word) => word.length > 1 && !COMMON_WORDS.has(word));
}

function isAlike(a: string, b: string): boolean {
  return (
    a === b || (a.length >= STEM_LENGTH && a.slice(0, STEM_LENGTH) === b.slice(0, STEM_LENGTH))
  );
}
