import { readCurated } from "./curated.ts";
import { coreName, shareStem } from "./region-names.ts";
import type { SubdivisionNames } from "./subdivisions.ts";

/** How an upstream region found its CLDR subdivision; `none` when it has none. */
export type JoinRule = "accepted" | "code" | "alias" | "name" | "none";

/** An upstream region with the CLDR subdivision that it is. */
export interface JoinedRegion {
  /** The upstream code, `FR-OCC`. */
  readonly code: string;
  /** The upstream English name; the hand-typed one where upstream has none. */
  readonly upstreamName: string;
  /** The CLDR code, `frocc`. */
  readonly cldr: string | null;
  readonly rule: JoinRule;
}

interface JoinSources {
  readonly english: SubdivisionNames;
  readonly aliases: ReadonlyMap<string, string>;
  readonly valid: ReadonlySet<string>;
}

/** The hand-reviewed joins: upstream code to CLDR code, or null where CLDR has no such region. */
export function readAcceptedJoins(): ReadonlyMap<string, string | null> {
  const rows = readCurated<"code" | "cldr">("region-joins");
  return new Map(rows.map(({ code, cldr }) => [code, cldr === "-" ? null : cldr]));
}

/**
 * Joins upstream regions to CLDR subdivisions.
 * A code alone proves nothing (ISO reassigned all of Iran's), so unless a person accepted the pair
 * the English names must agree: own code, then the code's successor, then a unique name in the country.
 */
export function joinRegions(
  regions: readonly { readonly code: string; readonly name: string }[],
  sources: JoinSources,
): JoinedRegion[] {
  const accepted = readAcceptedJoins();
  const byName = indexByName(sources);
  return regions.map(({ code, name }): JoinedRegion => {
    const joined = (cldr: string | null, rule: JoinRule) => ({
      code,
      upstreamName: name,
      cldr,
      rule,
    });
    const decision = accepted.get(code);
    if (decision !== undefined) return joined(decision, decision === null ? "none" : "accepted");
    const own = code.toLowerCase().replaceAll("-", "");
    if (agrees(own, name, sources.english)) return joined(own, "code");
    const alias = sources.aliases.get(own);
    if (alias !== undefined && agrees(alias, name, sources.english)) return joined(alias, "alias");
    const named = byName.get(countryNameKey(own, name));
    return named ? joined(named, "name") : joined(null, "none");
  });
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
