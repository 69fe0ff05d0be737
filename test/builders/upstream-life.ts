/** A ledger that is compared with upstream day by day. */
import { acceptUpstream } from "../../src/acceptance/accept.ts";
import {
  type AcceptedAirport,
  firstLedger,
  type Ledger,
  type UpstreamAirports,
} from "../../src/acceptance/airport.ts";
import type { Correction } from "../../src/catalog/source-airport.ts";
import { type HeldChange } from "../../src/schemas/held-change.ts";
import { byChange, type Decision } from "../../src/acceptance/decisions.ts";
import type { SourceAirport } from "../../src/catalog/source-airport.ts";
import { aSourceAirport } from "./source.ts";
import { DEPLOYED_LIMITS } from "./hold-limits.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_DAY = Date.parse("2026-11-01T04:17:00.000Z");

/** The inputs of a comparison besides the open airports. */
type OnADay = Partial<UpstreamAirports> & {
  readonly decisions?: readonly Decision[];
  readonly hoursLate?: number;
  readonly source?: string;
};

/** How long a run takes. */
const RUN_MS = 60_000;

export class UpstreamLife {
  ledger: Ledger;
  corrections: readonly Correction[] = [];
  /** The snapshot's names of subdivisions, by code. */
  regionNames: ReadonlyMap<string, string> = new Map();
  holdMs = DEPLOYED_LIMITS.holdMs;
  /** Time of the last comparison, in milliseconds since 1970. */
  now = FIRST_DAY;
  /** When the runs before ended. */
  recorded: number[] = [];
  #day = 0;
  /** The coordinator keeps rejections for good, and an approval until a run has followed it. */
  #rejections: readonly Decision[] = [];

  constructor(airports: readonly SourceAirport[]) {
    this.ledger = firstLedger(airports);
  }

  /** Compares with upstream on the next day, or some hours later than then. */
  nextDay(airports: readonly SourceAirport[], others: OnADay = {}): void {
    this.now = FIRST_DAY + this.#day++ * DAY_MS + (others.hoursLate ?? 0) * HOUR_MS;
    this.sameDay(airports, others);
  }

  /** Compares with the same upstream on some days. */
  nextDays(days: number, airports: readonly SourceAirport[], others: OnADay = {}): void {
    for (let day = 0; day < days; day++) this.nextDay(airports, others);
  }

  /** Lets days pass without a comparison. */
  skipDays(days: number): void {
    this.#day += days;
  }

  /** Compares with upstream again at the same time. */
  sameDay(airports: readonly SourceAirport[], others: OnADay = {}): void {
    const { decisions = [], hoursLate: _, source = "ourairports", ...upstream } = others;
    const all = [...byChange([...this.#rejections, ...decisions]).values()];
    this.#rejections = all.filter(({ verdict }) => verdict === "rejected");
    this.ledger = acceptUpstream({
      ledger: this.ledger,
      upstream: {
        airports,
        delistedRows: new Map(),
        unopened: new Set(),
        regions: new Map(),
        coded: airports.length,
        ...upstream,
      },
      regionNames: this.regionNames,
      corrections: this.corrections,
      decisions: all,
      regionOf: (code) => (code.endsWith("-U-A") ? "" : code),
      holdMs: this.holdMs,
      now: this.now,
      recorded: this.recorded,
      runId: `run-${this.#day - 1}`,
      source,
    });
    this.recorded = [...this.recorded, this.now + RUN_MS];
  }

  /** The airport that the catalog has by this code. */
  airport(iata: string): AcceptedAirport | undefined {
    return this.ledger.accepted.airports.find((airport) => airport.iata === iata);
  }

  held(): readonly HeldChange[] {
    return this.ledger.held;
  }

  /** The held changes in order, as `<code>: <rules>`. */
  reasons(): string[] {
    return this.held().map(({ iata, rules }) => `${iata}: ${rules.join(", ")}`);
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
