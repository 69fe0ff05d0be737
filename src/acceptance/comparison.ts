/** What a comparison with upstream starts from, and the changes that it finds. */
import type { SourceAirport } from "../sources/our-airports.ts";
import type { AcceptedAirport, Ledger } from "./airport.ts";
import type { Decision, HeldChange, Part, Rule, Values } from "./held-change.ts";
import type { Fate, Places, SurpriseLimits } from "./surprises.ts";

/** What upstream says. */
export interface UpstreamAirports {
  /** Open airports. Codes and row numbers are unique. */
  readonly airports: readonly SourceAirport[];
  /** Why rows of the catalog's airports are not among them, by row number. */
  readonly fates: ReadonlyMap<string, NonNullable<Fate>>;
  /** Row numbers of airports whose names say that they are not in use. */
  readonly unopened: ReadonlySet<string>;
  /** Rows of the file. */
  readonly seen: number;
}

export interface Comparison {
  readonly ledger: Ledger;
  readonly upstream: UpstreamAirports;
  readonly decisions: readonly Decision[];
  readonly limits: SurpriseLimits;
  readonly places: Places;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly runId: string;
  /** Name of the upstream. */
  readonly source: string;
}

/** A change by upstream. */
export interface Change {
  readonly airport: AcceptedAirport;
  readonly part: Part;
  readonly before: Values;
  readonly after: Values;
  /** What upstream says: the airport, or why it is not listed. */
  readonly said: SourceAirport | Fate;
  readonly rules: readonly Rule[];
}

/** A change as it is held, and whether nothing holds it any more. */
export interface Judged {
  readonly change: Change;
  readonly held: HeldChange;
  readonly isFree: boolean;
}
