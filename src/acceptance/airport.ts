/** The airports that the catalog is built from. Pure. */
import type { Position } from "../catalog/positions.ts";
import type { AirportsRead, SourceAirport } from "../catalog/source-airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";

/** A shorter move is none: the length of a runway. */
export const SAME_POSITION_KM = 2;

export interface AcceptedAirport extends SourceAirport {
  /** Number of its row at upstream. It differs from `id` if upstream has renumbered it. */
  readonly row: string;
  /** Its last accepted position, if small corrections have moved it since. */
  readonly anchor?: Position;
}

/** Identifies a delisted airport if it comes back. */
export type GoneAirport = Pick<AcceptedAirport, "id" | "row" | "iata" | "lat" | "lon">;

export function goneOf({ id, row, iata, lat, lon }: GoneAirport): GoneAirport {
  return { id, row, iata, lat, lon };
}

/** The airports that a catalog is built from, with data for later comparisons. */
export interface Accepted {
  /** Ids, rows and IATA codes are unique; so are ICAO codes, but not in ledgers of earlier versions. */
  readonly airports: readonly AcceptedAirport[];
  readonly gone: readonly GoneAirport[];
  /** Upstream's accepted names of subdivisions, by code; other names are the snapshot's. */
  readonly regions: { readonly [code: string]: string };
  /** Rows with an IATA code in the upstream file that was compared last; null if none was. */
  readonly codedRows: number | null;
}

/** The state before and after a comparison with upstream. */
export interface Ledger {
  readonly accepted: Accepted;
  readonly held: readonly HeldChange[];
}

/** The state before anything was compared: the airports of the snapshot. */
export function firstLedger(airports: readonly SourceAirport[]): Ledger {
  const accepted = airports.map((airport) => ({ ...airport, row: airport.id }));
  return { accepted: { airports: accepted, gone: [], regions: {}, codedRows: null }, held: [] };
}

export interface UpstreamAirports extends Pick<
  AirportsRead,
  "airports" | "delistedRows" | "unopened" | "coded"
> {
  /** Names by code of the subdivisions without a region in the snapshot. */
  readonly regions: ReadonlyMap<string, string>;
}

/** The values of an airport, without its identity. A change of any of them waits. */
export function recordOf({
  iata,
  icao,
  name,
  lat,
  lon,
  country,
  region,
  municipality,
  type,
  scheduled,
}: SourceAirport): Omit<SourceAirport, "id"> {
  return { iata, icao, name, lat, lon, country, region, municipality, type, scheduled };
}

/** Whether travellers use an airport: it has scheduled service, or is of medium or large size. */
export function isImportant({ scheduled, type }: SourceAirport): boolean {
  return scheduled || type === "medium_airport" || type === "large_airport";
}
