/** Groups the unusable rows of a file. Pure. */
import type { AcceptedAirport } from "../acceptance/airport.ts";
import { compareText } from "../catalog/integrity.ts";
import type { AirportsRead, Reject } from "../catalog/source-airport.ts";
import { countReasons } from "../sources/upstream-reader.ts";
import type { UnusableRows } from "../schemas/run-report.ts";

/** Fewer rows may be single mistakes: the file of February 2026 has one such row. */
const ROWS_NOTED = 5;
const GROUPS_KEPT = 20;

/**
 * Lists the countries that have lost the usable rows of many airports, or of all, and the reasons why
 * many rows of a file are unusable, the largest group first.
 *
 * @param served airports of the catalog.
 */
export function findUnusable(
  served: readonly AcceptedAirport[],
  { airports, rejects }: Pick<AirportsRead, "airports" | "rejects">,
  regionRejects: readonly Reject[],
): UnusableRows[] {
  const rows = new Set(airports.flatMap(({ id, iata }) => [id, iata]));
  const bad = new Set(rejects.flatMap(({ id, iata }) => [id, iata.trim().toUpperCase()]));
  const lost = served.filter(
    ({ row, iata }) => !rows.has(row) && !rows.has(iata) && (bad.has(row) || bad.has(iata)),
  );
  const all = Map.groupBy(served, ({ country }) => country);
  const countries = [...Map.groupBy(lost, ({ country }) => country)]
    .map(([name, { length }]) => ({ of: "country" as const, name, rows: length }))
    .filter(({ name, rows: count }) => count >= ROWS_NOTED || count === all.get(name)?.length);
  const groups = [
    ...countries,
    ...byReason("airports", rejects),
    ...byReason("regions", regionRejects),
  ];
  return groups
    .toSorted((a, b) => b.rows - a.rows || compareText(a.name, b.name))
    .slice(0, GROUPS_KEPT);
}

function byReason(of: UnusableRows["of"], rejects: readonly Reject[]): UnusableRows[] {
  return Object.entries(countReasons(rejects))
    .map(([name, rows]) => ({ of, name, rows }))
    .filter(({ rows }) => rows >= ROWS_NOTED);
}
