import { SOURCES } from "../../catalog/id-origin.ts";

/** 0: large, 1: medium, 2: small with scheduled service; 3: no scheduled service. */
export type Tier = 0 | 1 | 2 | 3;

/** The rank of a city or an airport without one. */
export const UNRANKED = 0xffff;

/** What the page knows of airports and cities beyond the catalog: made by `scripts/search-files.ts`. */
export interface RanksFile {
  /** IATA codes of the airports with scheduled service, three letters each, the busiest first. */
  readonly airports: string;
  /** Their tiers, a digit each. */
  readonly tiers: string;
  /** The names that travellers use where the official ones hide them, by IATA code. */
  readonly names: { readonly [iata: string]: string };
  /** GeoNames ids in base 36, the most populous city first. */
  readonly cities: string;
  /** GeoNames ids in base 36 by code of a city, such as `LON` and `LA`. */
  readonly codes: { readonly [code: string]: string };
}

/** Which airports and cities are the important ones, and what travellers call them. */
export interface Ranks {
  readonly tierOf: (iata: string) => Tier;
  /** 0 for the busiest airport of the world; `UNRANKED` without scheduled service. */
  readonly trafficRankOf: (iata: string) => number;
  /** The name that travellers use; undefined where it is the official one. */
  readonly nameOf: (iata: string) => string | undefined;
  /** @param id of a city, as a UUID. */
  readonly rankOf: (id: string) => number;
  /** Codes of a city, by UUID. */
  readonly codesOf: (id: string) => readonly string[];
}

const NO_RANKS: RanksFile = { airports: "", tiers: "", names: {}, cities: "", codes: {} };

export function readRanks({ airports, tiers, names, cities, codes }: RanksFile = NO_RANKS): Ranks {
  const trafficRanks = new Map<string, number>();
  for (let rank = 0; rank < tiers.length; rank++)
    trafficRanks.set(airports.slice(rank * 3, rank * 3 + 3), rank);
  const trafficRankOf = (iata: string) => trafficRanks.get(iata) ?? UNRANKED;
  const cityRanks = new Map(cities.split(" ").map((id, rank) => [id, rank]));
  const codesOf = Map.groupBy(Object.entries(codes), ([, id]) => id);
  return {
    tierOf: (iata) => Number(tiers[trafficRankOf(iata)] ?? 3) as Tier, // the file has no other digits
    trafficRankOf,
    nameOf: (iata) => names[iata],
    rankOf: (id) => cityRanks.get(geonamesOf(id)) ?? UNRANKED,
    codesOf: (id) => codesOf.get(geonamesOf(id))?.map(([code]) => code) ?? [],
  };
}

/** Returns the GeoNames id in base 36 that the UUID of a city has; empty for other sources. */
export function geonamesOf(id: string): string {
  return id.slice(20, 23) === SOURCES.geonames ? Number(id.slice(24)).toString(36) : "";
}
