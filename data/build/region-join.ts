import { cldrCode, isoCode, type SubdivisionNames } from "./cldr-codes.ts";
import { coreName, shareStem } from "./region-names.ts";

/** How an upstream region found its CLDR subdivision; `none` when it has none. */
export type JoinRule = "accepted" | "code" | "alias" | "name" | "none";

/** An upstream region with the CLDR subdivision that it is. */
export interface JoinedRegion {
  /** The upstream code, `FR-OCC`. */
  readonly code: string;
  /** The upstream English name, empty where upstream has none. */
  readonly upstreamName: string;
  /**
   * The CLDR codes that name it, `frocc`: the one in force first, then the withdrawn one that it
   * replaced. Empty when CLDR does not have the region.
   */
  readonly cldr: readonly string[];
  readonly rule: JoinRule;
}

/** What CLDR knows of subdivisions. */
export interface JoinSources {
  readonly english: SubdivisionNames;
  readonly aliases: ReadonlyMap<string, string>;
  /** Codes in force. */
  readonly valid: ReadonlySet<string>;
  /** Hand-reviewed joins: upstream code to CLDR code, or null where CLDR has no such region. */
  readonly accepted: ReadonlyMap<string, string | null>;
}

/** A code of a territory, of which a region is a part that is none of its own. */
const TERRITORY = /^[A-Z]{2}$/u;

/**
 * The hand-reviewed joins: upstream code to CLDR code, or null where CLDR has no such region.
 * Throws with the row when CLDR has neither a subdivision nor a territory of the code.
 *
 * @param rows of `region-joins.csv`, CLDR code by upstream code.
 */
export function acceptedJoins(
  rows: ReadonlyMap<string, string>,
  english: SubdivisionNames,
): ReadonlyMap<string, string | null> {
  const joins = new Map<string, string | null>();
  for (const [code, cldr] of rows) {
    if (cldr !== "-" && !TERRITORY.test(cldr) && !english.has(cldr))
      throw new Error(`region-joins.csv: ${code}: CLDR has no ${cldr}`);
    joins.set(code, cldr === "-" ? null : cldr);
  }
  return joins;
}

/**
 * Joins upstream regions to CLDR subdivisions.
 * A code alone proves nothing (ISO reassigned all of Iran's), so unless a person accepted the pair
 * the English names must agree: own code, then the code's successor, then a unique name in the country.
 * A code in force comes before the withdrawn one of the same name, unless it is another region's.
 */
export function joinRegions(regions: readonly NamedCode[], sources: JoinSources): JoinedRegion[] {
  const byName = indexByName(sources);
  const found = regions.map((region) => ({ region, joins: candidates(region, sources, byName) }));
  const claimed = new Set(found.flatMap(({ joins }) => joins[0]?.cldr ?? []));
  return found.map(({ region: { code, name }, joins }): JoinedRegion => {
    const [first, ...others] = joins;
    if (first === undefined) return { code, upstreamName: name, cldr: [], rule: "none" };
    const inForce = others.find(({ cldr }) => sources.valid.has(cldr) && !claimed.has(cldr));
    const own = others.find(({ rule, cldr }) => rule === "code" && !sources.valid.has(cldr));
    const cldr = sources.valid.has(first.cldr)
      ? [first.cldr, own?.cldr]
      : [inForce?.cldr, first.cldr, own?.cldr];
    const { rule } = first;
    return { code, upstreamName: name, cldr: cldr.filter((one) => one !== undefined), rule };
  });
}

/**
 * The codes of a region, as upstream has written them and will: a code that ISO has replaced is
 * followed by the one in force, unless upstream uses that for something else.
 *
 * @param merged upstream's codes of one CLDR subdivision.
 */
export function upstreamCodes(
  merged: readonly JoinedRegion[],
  used: ReadonlySet<string>,
  valid: ReadonlySet<string>,
): string[] {
  const successors = merged.flatMap(({ code, cldr: [cldr = ""] }) =>
    valid.has(cldr) && !valid.has(cldrCode(code)) ? [isoCode(cldr)] : [],
  );
  const codes = merged.map(({ code }) => code);
  return [...new Set([...codes, ...successors.filter((code) => !used.has(code))])];
}

/** An upstream region: its code and English name, empty where upstream has none. */
export interface NamedCode {
  readonly code: string;
  readonly name: string;
}

interface Candidate {
  readonly rule: JoinRule;
  readonly cldr: string;
}

/** The CLDR subdivisions that a region can be, the best first. */
function candidates(
  { code, name }: NamedCode,
  { accepted, aliases, english }: JoinSources,
  byName: ReadonlyMap<string, string | null>,
): Candidate[] {
  const own = cldrCode(code);
  const decision = accepted.get(code);
  if (decision === null) return [];
  if (decision !== undefined && TERRITORY.test(decision))
    return [{ rule: "accepted", cldr: decision }];
  const alias = aliases.get(own);
  const named = byName.get(countryNameKey(own, name));
  return [
    ...(decision === undefined ? [] : [{ rule: "accepted" as const, cldr: decision }]),
    ...(agrees(own, name, english) ? [{ rule: "code" as const, cldr: own }] : []),
    ...(alias !== undefined && agrees(alias, name, english)
      ? [{ rule: "alias" as const, cldr: alias }]
      : []),
    ...(named ? [{ rule: "name" as const, cldr: named }] : []),
  ];
}

function agrees(cldr: string, name: string, english: SubdivisionNames): boolean {
  const other = english.get(cldr);
  return other !== undefined && name !== "" && shareStem(other, name);
}

function countryNameKey(cldr: string, name: string): string {
  return `${cldr.slice(0, 2)}:${coreName(name)}`;
}

/** CLDR codes by country and core name; names that two codes in force share are left out. */
function indexByName({ english, valid }: JoinSources): ReadonlyMap<string, string | null> {
  const index = new Map<string, string | null>();
  const inForceFirst = [...english].toSorted(
    ([a], [b]) => Number(valid.has(b)) - Number(valid.has(a)),
  );
  for (const [cldr, name] of inForceFirst) {
    const key = countryNameKey(cldr, name);
    const before = index.get(key);
    if (before === undefined) index.set(key, cldr);
    else if (valid.has(cldr) || (before !== null && !valid.has(before))) index.set(key, null);
  }
  return index;
}
