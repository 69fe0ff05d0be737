import { isRecord, isTextByKey, isTexts } from "./shape.ts";
import { isTimeZones, timeZoneAt, type TimeZones } from "./time-zones.ts";

/** 0: large, 1: medium, 2: small with scheduled service; 3: no scheduled service. */
export type Tier = 0 | 1 | 2 | 3;

/** The rank of a city or an airport without one. */
export const UNRANKED = 0xffff;

/** An airport that has closed, and leads to the one that took over its flights. */
export interface ClosedAirport {
  /** Empty where another airport has the code today. */
  readonly iata: string;
  readonly name: string;
  /** What else travellers type. */
  readonly names: readonly string[];
  /** In which the flights moved. */
  readonly year: number;
  /** IATA code of the airport that has them. */
  readonly successor: string;
}

function isClosedAirport(value: unknown): value is ClosedAirport {
  return (
    isRecord(value) &&
    isTexts([value["iata"], value["name"], value["successor"]]) &&
    isTexts(value["names"]) &&
    typeof value["year"] === "number"
  );
}

/** `/search/v1/ranks.json`: what is known of airports and cities beyond the catalog. */
export interface RanksFile {
  /** IATA codes of the airports with scheduled service, the busiest first. */
  readonly airports: readonly string[];
  /** Their tiers, a digit each. */
  readonly tiers: string;
  /** The names that travellers use where the official ones hide them, by IATA code. */
  readonly names: { readonly [iata: string]: string };
  /** Ids as UUIDs, the most populous city first. */
  readonly cities: readonly string[];
  /** Ids by code of a city, such as `LON` and `LA`. */
  readonly codes: { readonly [code: string]: string };
  /** Ids of the cities that no source but their airports puts into a subdivision, such as Moscow. */
  readonly apart?: readonly string[];
  readonly closed?: readonly ClosedAirport[];
  readonly timeZones?: TimeZones;
}

/** Whether a file is one: a service may answer with anything. */
export function isRanksFile(file: unknown): file is RanksFile {
  return (
    isRecord(file) &&
    isTexts(file["airports"]) &&
    typeof file["tiers"] === "string" &&
    isTextByKey(file["names"]) &&
    isTexts(file["cities"]) &&
    isTextByKey(file["codes"]) &&
    isListOfClosed(file["closed"] ?? []) &&
    (file["timeZones"] === undefined || isTimeZones(file["timeZones"]))
  );
}

export function isListOfClosed(value: unknown): value is readonly ClosedAirport[] {
  return Array.isArray(value) && value.every(isClosedAirport);
}

/** Which airports and cities are the important ones, and what travellers call them. */
export interface Ranks {
  readonly tierOf: (iata: string) => Tier;
  /** 0 for the busiest airport of the world; `UNRANKED` without scheduled service. */
  readonly trafficRankOf: (iata: string) => number;
  /** The IANA time zone, by the country of the city as well; empty without scheduled service. */
  readonly timeZoneOf: (iata: string, country: string) => string;
  /** The name that travellers use; undefined where it is the official one. */
  readonly nameOf: (iata: string) => string | undefined;
  /** @param id of a city, as a UUID. */
  readonly rankOf: (id: string) => number;
  /** Codes of a city, by UUID. */
  readonly codesOf: (id: string) => readonly string[];
  /** Whether nothing but its airports puts a city, by UUID, into a subdivision. */
  readonly isApart: (id: string) => boolean;
  /** The closed airports whose flights an airport has. */
  readonly closedFor: (iata: string) => readonly ClosedAirport[];
}

const NO_RANKS: RanksFile = { airports: [], tiers: "", names: {}, cities: [], codes: {} };

/** Reads the file; without it, all places are of one rank. */
export function readRanks(file: RanksFile = NO_RANKS): Ranks {
  const { airports, tiers, names, cities, codes } = file;
  const apart = new Set(file.apart);
  const trafficRanks = new Map(airports.map((iata, rank) => [iata, rank]));
  const trafficRankOf = (iata: string) => trafficRanks.get(iata) ?? UNRANKED;
  const cityRanks = new Map(cities.map((id, rank) => [id, rank]));
  const codesOf = new Map<string, string[]>();
  for (const [code, id] of Object.entries(codes))
    codesOf.set(id, [...(codesOf.get(id) ?? []), code]);
  return {
    tierOf: (iata) => Number(tiers[trafficRankOf(iata)] ?? 3) as Tier, // the file has no other digits
    trafficRankOf,
    timeZoneOf: (iata, country) => timeZoneAt(file.timeZones, trafficRankOf(iata), country),
    nameOf: (iata) => names[iata],
    rankOf: (id) => cityRanks.get(id) ?? UNRANKED,
    codesOf: (id) => codesOf.get(id) ?? [],
    isApart: (id) => apart.has(id),
    closedFor: closedBySuccessor(file.closed),
  };
}

/** Finds the closed airports whose flights an airport has. */
export function closedBySuccessor(closed: readonly ClosedAirport[] = []): Ranks["closedFor"] {
  return (iata) => closed.filter(({ successor }) => successor === iata);
}
