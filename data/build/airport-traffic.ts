import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { readCuratedMap } from "./curated.ts";
import { compareCodeUnits } from "./text.ts";

/** By how much an airport is before the one that it is busier than: less than two of the table differ. */
const BUSIER = 1e-6;

/** The types of which one may be busier than the middle one of the medium ones. */
const MAY_BE_BUSY: ReadonlySet<string> = new Set(["large_airport", "medium_airport"]);

/** An airport with what its rank depends on. */
export interface RankedAirport {
  readonly iata: string;
  /** OurAirports' type, such as `large_airport`. */
  readonly type: string;
  /** Inhabitants of its city. */
  readonly people: number;
}

/**
 * The traffic of airports by IATA code, from 0 to 1: `curated/airport-ranks.csv`, where
 * `busier-airports.csv` does not know better.
 */
export function readTraffic(): ReadonlyMap<string, number> {
  const file = readFileSync(new URL("../curated/airport-ranks.csv", import.meta.url), "utf8");
  const rows: { readonly iata: string; readonly traffic: string }[] = parse(file, {
    columns: true,
  });
  const ranks = new Map(rows.map(({ iata, traffic }) => [iata, Number(traffic)]));
  for (const [iata, than] of readCuratedMap("busier-airports", "iata", "than"))
    ranks.set(iata, (ranks.get(than) ?? 0) + BUSIER);
  return ranks;
}

/**
 * Orders airports by traffic, the busiest first. One whose traffic is unknown counts as the middle
 * one of its type, and a small one at most as the middle medium one. Between equals, the larger city
 * decides.
 */
export function orderByTraffic<A extends RankedAirport>(
  airports: readonly A[],
  traffic: ReadonlyMap<string, number>,
): A[] {
  const known = airports.filter(({ iata }) => traffic.has(iata));
  const usual = new Map(
    [...Map.groupBy(known, ({ type }) => type)].map(([type, ofType]) => {
      const ranks = ofType.map(({ iata }) => traffic.get(iata) ?? 0).toSorted((a, b) => a - b);
      return [type, ranks[ranks.length >> 1] ?? 0];
    }),
  );
  // The page rank counts flights: those of a strip in Alaska are many, and small.
  const most = usual.get("medium_airport") ?? Infinity;
  const rankOf = ({ iata, type }: A) =>
    Math.min(traffic.get(iata) ?? usual.get(type) ?? 0, MAY_BE_BUSY.has(type) ? Infinity : most);
  return airports.toSorted(
    (a, b) => rankOf(b) - rankOf(a) || b.people - a.people || compareCodeUnits(a.iata, b.iata),
  );
}
