/** The airports that the catalog is built from, and the parts that change one by one. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { SourceAirport } from "../sources/our-airports.ts";
import type { HeldChange, Part, Values } from "./held-change.ts";

/** A part whose present value is too new to compare with. */
export interface Unsettled {
  /** The last value that has stood for long enough. */
  readonly settled: Values;
  /** When a run accepted the present value (RFC 3339). */
  readonly since: string;
  /** When a run last saw that upstream says so. */
  readonly last_seen: string;
}

/** An airport as the catalog has it. */
export interface AcceptedAirport extends SourceAirport {
  /** Number of its row at upstream. It differs from `id` if upstream has renumbered it. */
  readonly row: string;
  /** The parts that changed lately, without surprising anybody. */
  readonly unsettled?: { readonly [P in Part]?: Unsettled };
}

/** What identifies an airport that is no longer listed, should it come back. */
export interface GoneAirport extends Pick<AcceptedAirport, "id" | "row" | "iata" | "lat" | "lon"> {
  /** Where it was and since when it is gone (RFC 3339), if that surprised nobody. */
  readonly left?: { readonly region: string; readonly since: string };
}

export function goneOf({ id, row, iata, lat, lon }: GoneAirport): GoneAirport {
  return { id, row, iata, lat, lon };
}

/** The airports that a catalog is built from, with what later comparisons need. */
export interface Accepted {
  /** Ids, rows and IATA codes are unique. */
  readonly airports: readonly AcceptedAirport[];
  readonly gone: readonly GoneAirport[];
  /** Rows of the upstream file that was compared last; null if none was. */
  readonly rows: number | null;
  /** Ids of the snapshot's corrections that have been made, so that each is made only once. */
  readonly corrections: readonly string[];
}

/** The state that a comparison with upstream starts from and results in. */
export interface Ledger {
  readonly accepted: Accepted;
  readonly held: readonly HeldChange[];
}

const LISTING = [
  "iata",
  "icao",
  "name",
  "lat",
  "lon",
  "country",
  "region",
  "municipality",
  "type",
  "scheduled",
] as const;

const FIELDS = {
  listing: LISTING,
  code: ["iata", "icao"],
  name: ["name"],
  place: ["lat", "lon", "country", "region", "municipality"],
  service: ["type", "scheduled"],
} as const satisfies { readonly [P in Part]: readonly (keyof SourceAirport)[] };

/** The values of one part of an airport; null if it is not listed. */
export function valuesOf(part: Part, airport: SourceAirport | undefined): Values {
  return airport === undefined
    ? null
    : Object.fromEntries(FIELDS[part].map((field) => [field, airport[field]]));
}

export function isSameValue(a: Values, b: Values): boolean {
  return isDeepStrictEqual(a, b);
}

/** An airport with the values that later ones are compared with. */
export function settledOf(airport: AcceptedAirport): AcceptedAirport {
  const values = Object.values(airport.unsettled ?? {}).map(({ settled }) => settled);
  return Object.assign({}, airport, ...values);
}

/** Whether travellers use an airport: it has scheduled service, or is of medium or large size. */
export function isImportant({ scheduled, type }: SourceAirport): boolean {
  return scheduled || type === "medium_airport" || type === "large_airport";
}
