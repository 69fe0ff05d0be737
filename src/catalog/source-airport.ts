/** Upstream's airports and subdivisions, whatever the format of its files. */
import type { AirportRecord } from "../schemas/held-change.ts";
import type { Position } from "./positions.ts";

/** Types of airports. The first one wins if two rows claim the same IATA code. */
export const AIRPORT_TYPES = [
  "large_airport",
  "medium_airport",
  "small_airport",
  "seaplane_base",
  "heliport",
] as const;

/** An airport of upstream, normalized. */
export interface SourceAirport extends AirportRecord {
  /** Number of its row at upstream, in decimal digits. */
  readonly id: string;
  readonly type: (typeof AIRPORT_TYPES)[number];
}

/** Why the row of an airport lists none. An `unusable` row says nothing, so the airport stays. */
export type DelistedReason = "closed" | "without_code" | "unusable";

export interface Reject {
  readonly reason: string;
  readonly line: number;
  /** IATA code as written; shortened to 40 characters, like the id. */
  readonly iata: string;
  readonly id: string;
}

export interface KnownAirport extends Position {
  readonly row: string;
  readonly iata: string;
}

/** Upstream's airports, with an account of each row. Rows that list no airport are `filtered`. */
export interface AirportsRead {
  /** Sorted by IATA code. Codes and ids are unique. */
  readonly airports: readonly SourceAirport[];
  /** Rows of known airports that list no airport, by number, and why. */
  readonly delistedRows: ReadonlyMap<string, DelistedReason>;
  /** Ids of airports whose names say that they are not in use. */
  readonly unopened: ReadonlySet<string>;
  readonly seen: number;
  readonly filtered: number;
  /** Rows with an IATA code, also closed ones. */
  readonly coded: number;
  readonly rejects: readonly Reject[];
}

/** Upstream's English names of subdivisions, by code. */
export interface SubdivisionsRead {
  readonly names: ReadonlyMap<string, string>;
  /** Unusable rows; `id` is the subdivision's code. */
  readonly rejects: readonly Reject[];
}

/** An airport as upstream wrote it on the snapshot's day, and as the snapshot has it. */
export interface Correction {
  readonly id: string;
  /** Undefined if upstream did not list it. */
  readonly written: SourceAirport | undefined;
  /** Undefined if the snapshot does not list it. */
  readonly ours: SourceAirport | undefined;
}
