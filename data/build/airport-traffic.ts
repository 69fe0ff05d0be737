import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { compareCodeUnits } from "./text.ts";

/** An airport with what its rank depends on. */
export interface RankedAirport {
  readonly iata: string;
  /** OurAirports' type, such as `large_airport`. */
  readonly type: string;
  /** Inhabitants of its city. */
  readonly people: number;
}

/** The traffic of airports by IATA code, from 0 to 1: `curated/airport-ranks.csv`. */
export function readTraffic(): ReadonlyMap<string, number> {
  const file = readFileSync(new URL("../curated/airport-ranks.csv", import.meta.url), "utf8");
  const rows: { readonly iata: string; readonly traffic: string }[] = parse(file, {
    columns: true,
  });
  return new Map(rows.map(({ iata, traffic }) => [iata, Number(traffic)]));
}

/**
 * Orders airports by traffic, the busiest first. One whose traffic is unknown counts as the middle
 * one of its type. Between equals, the larger city decides.
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
  const rankOf = ({ iata, type }: A) => traffic.get(iata) ?? usual.get(type) ?? 0;
  return airports.toSorted(
    (a, b) => rankOf(b) - rankOf(a) || b.people - a.people || compareCodeUnits(a.iata, b.iata),
  );
}
