import { expect, it } from "vitest";
import { byRank } from "../../../src/acceptance/decisions.ts";
import type { HeldChange } from "../../../src/schemas/held-change.ts";

const RECORD = {
  iata: "",
  icao: "",
  name: "Ghost",
  lat: 0,
  lon: 0,
  country: "CH",
  region: "CH-ZH",
  municipality: "",
  scheduled: true,
};

function held(iata: string, type: string, changes: Partial<HeldChange>): HeldChange {
  const record = { ...RECORD, iata, type };
  return {
    id: `${iata}-0123456789abcdef`,
    state: "waiting",
    airport: "1",
    iata,
    name: iata,
    rules: ["changes_name"],
    before: record,
    after: record,
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

it("lists the most urgent changes first, then large airports, then by code", () => {
  const changes = [
    held("AAA", "small_airport", {}),
    held("ZRH", "large_airport", {}),
    held("VCE", "large_airport", { after: null }),
    held("XAA", "large_airport", { rules: [] }),
    held("YAA", "small_airport", { rules: ["moves"] }),
  ];
  expect(changes.toSorted(byRank).map(({ iata }) => iata)).toEqual([
    "YAA",
    "VCE",
    "ZRH",
    "AAA",
    "XAA",
  ]);
});
