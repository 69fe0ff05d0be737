/** A ledger that is compared with upstream day by day. */
import { acceptUpstream } from "../../src/acceptance/accept.ts";
import type { UpstreamAirports } from "../../src/acceptance/comparison.ts";
import type { AcceptedAirport, Ledger } from "../../src/acceptance/airport.ts";
import { firstLedger } from "../../src/acceptance/corrections.ts";
import type { Decision, HeldChange } from "../../src/acceptance/held-change.ts";
import type { Places } from "../../src/acceptance/surprises.ts";
import type { SourceAirport } from "../../src/sources/our-airports.ts";
import { aSourceAirport } from "./source.ts";
import { DEPLOYED_LIMITS } from "./surprise-limits.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_DAY = Date.parse("2026-11-01T04:17:00.000Z");

/** A place for each region, none known by name. */
const PLACES: Places = {
  cityOf: ({ municipality }) => municipality,
  regionOf: (code) => (code.endsWith("-U-A") ? "" : code),
};

/** What a comparison starts from besides the open airports. */
type OnADay = Partial<UpstreamAirports> & {
  readonly decisions?: readonly Decision[];
  readonly hoursLate?: number;
  readonly source?: string;
};

export class UpstreamLife {
  ledger: Ledger;
  readonly places: Places;
  limits = DEPLOYED_LIMITS;
  /** Time of the last comparison, in milliseconds since 1970. */
  now = FIRST_DAY;
  #day = 0;

  constructor(airports: readonly SourceAirport[], places: Places = PLACES) {
    this.ledger = firstLedger(airports);
    this.places = places;
  }

  /** Compares with upstream on the next day, or some hours later than then. */
  nextDay(airports: readonly SourceAirport[], others: OnADay = {}): void {
    this.now = FIRST_DAY + this.#day++ * DAY_MS + (others.hoursLate ?? 0) * HOUR_MS;
    this.sameDay(airports, others);
  }

  /** Lets days pass on which nobody looks. */
  skipDays(days: number): void {
    this.#day += days;
  }

  /** Compares with upstream again at the same time. */
  sameDay(airports: readonly SourceAirport[], others: OnADay = {}): void {
    const { decisions = [], hoursLate: _, source = "ourairports", ...upstream } = others;
    this.ledger = acceptUpstream({
      ledger: this.ledger,
      upstream: {
        airports,
        fates: new Map(),
        unopened: new Set(),
        seen: airports.length,
        ...upstream,
      },
      decisions,
      limits: this.limits,
      places: this.places,
      now: this.now,
      runId: `run-${this.#day - 1}`,
      source,
    });
  }

  /** The airport that the catalog has by this code. */
  airport(iata: string): AcceptedAirport | undefined {
    return this.ledger.accepted.airports.find((airport) => airport.iata === iata);
  }

  held(): readonly HeldChange[] {
    return this.ledger.held;
  }

  /** What holds something, as `<code> <part>: <rules>`. */
  reasons(): string[] {
    return this.held().map(({ iata, part, rules }) => `${iata} ${part}: ${rules.join(", ")}`);
  }

  decision(verdict: Decision["verdict"], at = 0): Decision {
    const { id = "" } = this.held()[at] ?? {};
    return { id, verdict, by: "ops", at: "2026-11-02T00:00:00.000Z", note: "seen on site" };
  }
}

/** An airport by its code, a tenth of a degree from any other of another number. */
export function airportNumber(
  number: number,
  iata: string,
  changes: Partial<SourceAirport> = {},
): SourceAirport {
  return aSourceAirport({
    id: String(number),
    iata,
    icao: "",
    name: `${iata} Town Airport`,
    municipality: `${iata} Town`,
    lat: 40 + (number % 100) / 2,
    lon: 10 + Math.floor(number / 100) / 2,
    ...changes,
  });
}

/** An airport that travellers use, another one without scheduled service, and one of few. */
export const BASEL = airportNumber(1, "BSL", { name: "EuroAirport Basel", region: "FR-GES" });
export const BERN = airportNumber(2, "BRN", { type: "medium_airport", scheduled: false });
export const FIELD = airportNumber(3, "XFD", { type: "small_airport", scheduled: false });

/** The airports with other values of the first one. */
export function withBasel(changes: Partial<SourceAirport>): SourceAirport[] {
  return [{ ...BASEL, ...changes }, BERN, FIELD];
}
