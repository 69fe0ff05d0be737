import type { AirportRecord, HeldChange } from "../../src/schemas/held-change.ts";

/** A record of Zurich's airport. */
export const ZURICH: AirportRecord = {
  iata: "ZRH",
  icao: "LSZH",
  name: "Zürich Airport",
  lat: 47.46,
  lon: 8.55,
  country: "CH",
  region: "CH-ZH",
  municipality: "Zürich",
  type: "large_airport",
  scheduled: true,
};

/** Zurich's airport gets another name, which waits. */
export function aHeldChange(changes: Partial<HeldChange> = {}): HeldChange {
  return {
    id: "4439-0123456789abcdef",
    state: "waiting",
    airport: "4439",
    iata: "ZRH",
    name: "Zürich Airport",
    rules: ["changes_name"],
    before: ZURICH,
    after: { ...ZURICH, name: "Ghost Airport" },
    since: "2026-11-01T04:17:00.000Z",
    wanted_since: "2026-11-01T04:17:00.000Z",
    due_at: null,
    last_seen: "2026-11-01T04:17:00.000Z",
    run_id: "run",
    source: "ourairports",
    decided_by: null,
    decided_at: null,
    note: null,
    ...changes,
  };
}
