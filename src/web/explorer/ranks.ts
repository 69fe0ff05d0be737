import { SOURCES } from "../../catalog/id-origin.ts";

/** 0: large, 1: medium, 2: small with scheduled service; 3: no scheduled service. */
export type Tier = 0 | 1 | 2 | 3;

/** The rank of a city without one. */
export const UNRANKED = 0xffff;

/** The file of ranks, which `scripts/city-ranks.ts` makes of the snapshot. */
export interface RanksFile {
  /** IATA codes, three letters each: large, medium and small airports with scheduled service. */
  readonly tiers: readonly [string, string, string];
  /** GeoNames ids in base 36, the most populous city first. */
  readonly cities: string;
  /** GeoNames ids in base 36 by metropolitan code, such as `LON`. */
  readonly metros: { readonly [code: string]: string };
}

/** Which airports and cities are the important ones. */
export interface Ranks {
  readonly tierOf: (iata: string) => Tier;
  /** @param id of a city, as a UUID. */
  readonly rankOf: (id: string) => number;
  /** Metropolitan codes of cities, by UUID. */
  readonly metrosOf: (id: string) => readonly string[];
}

const NO_RANKS: RanksFile = { tiers: ["", "", ""], cities: "", metros: {} };

export function readRanks({ tiers, cities, metros }: RanksFile = NO_RANKS): Ranks {
  const tierOf = new Map<string, Tier>();
  for (const [tier, codes] of tiers.entries())
    for (let start = 0; start < codes.length; start += 3)
      tierOf.set(codes.slice(start, start + 3), tier as Tier); // there are three
  const rankOf = new Map(cities.split(" ").map((id, rank) => [id, rank]));
  const metrosOf = Map.groupBy(Object.entries(metros), ([, id]) => id);
  return {
    tierOf: (iata) => tierOf.get(iata) ?? 3,
    rankOf: (id) => rankOf.get(geonamesOf(id)) ?? UNRANKED,
    metrosOf: (id) => metrosOf.get(geonamesOf(id))?.map(([code]) => code) ?? [],
  };
}

/** Returns the GeoNames id in base 36 that the UUID of a city has; empty for other sources. */
export function geonamesOf(id: string): string {
  return id.slice(20, 23) === SOURCES.geonames ? Number(id.slice(24)).toString(36) : "";
}
