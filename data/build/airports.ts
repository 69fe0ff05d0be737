import { applyChanges, readChanges, withPredecessors } from "./airport-changes.ts";
import { type Correction, listCorrections } from "./airport-corrections.ts";
import { checkIcao, checkSecondList } from "./airport-codes.ts";
import { checkLosses, checkNames } from "./airport-losses.ts";
import { compareWithWitness, isCurrent, readDecisions, readWitness } from "./airport-witness.ts";
import { readCuratedMap } from "./curated.ts";
import { readDays } from "./our-airports.ts";
import { readPublishedAirports } from "./snapshot-reader.ts";

/** One OurAirports row: upstream values as they are, nothing normalized. */
export interface AirportRow {
  readonly id: number;
  readonly ident: string;
  readonly type: string;
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  readonly elevationFt: number | null;
  readonly continent: string;
  readonly country: string;
  readonly region: string;
  readonly municipality: string;
  /** `yes` or `no`. */
  readonly scheduledService: string;
  /** Upstream's `icao_code`; empty on days before it had that column. */
  readonly icao: string;
  readonly gps: string;
  /** Empty where the airport has none. */
  readonly iata: string;
  readonly local: string;
}

/** Airports on one day, as one source lists them. */
export interface Day {
  /** The package, or the snapshot that is published. */
  readonly source: string;
  readonly rows: readonly AirportRow[];
}

const OPEN_TYPES: ReadonlySet<string> = new Set([
  "large_airport",
  "medium_airport",
  "small_airport",
  "seaplane_base",
  "heliport",
]);

/** Whether the catalog has a place for such a row: it has an IATA code and is not closed. */
export function isOpen({ type, iata }: Pick<AirportRow, "type" | "iata">): boolean {
  return OPEN_TYPES.has(type) && iata !== "";
}

/**
 * The airports of the catalog, by ascending numeric id: the newest day of OurAirports, with what
 * `curated/airports.csv` says has happened since, and which airports that changes.
 *
 * @throws Error that names each curated row that does not fit, each airport with scheduled service
 * that an earlier day has and this one lacks, each name that has become another, and each code that
 * another column, the published snapshot or OpenTravelData contradicts. Likewise for a witness that
 * cannot be used, and for each undecided difference from it.
 */
export function readAirports(): {
  airports: AirportRow[];
  corrections: Correction[];
  /** All rows of the newest day. */
  newest: readonly AirportRow[];
} {
  const witness = readWitness();
  const [newest, ...earlier] = readDays();
  const changes = withPredecessors(newest.rows, readChanges());
  const airports = applyChanges(newest.rows, changes)
    .filter(isOpen)
    .toSorted((a, b) => a.id - b.id);
  const published = { source: "the published snapshot", rows: readPublishedAirports() };
  const others = readCuratedMap("other-codes", "code", "iata");
  const problems = [
    ...[...earlier, published].flatMap((day) => [
      ...checkLosses(day, airports, changes),
      ...checkNames(day, airports, changes),
    ]),
    ...checkIcao(published, airports, changes),
    ...checkSecondList(witness.filter(isCurrent), airports, others),
    ...compareWithWitness(witness, airports, {
      decisions: readDecisions(),
      others: new Set(others.keys()),
    }),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return {
    airports,
    corrections: listCorrections(newest.rows, airports, changes),
    newest: newest.rows,
  };
}
