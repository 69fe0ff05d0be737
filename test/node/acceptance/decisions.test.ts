import { expect, it } from "vitest";
import { byRank } from "../../../src/acceptance/decisions.ts";
import type { HeldChange } from "../../../src/schemas/held-change.ts";
import { aHeldChange, ZURICH } from "../../builders/held-change.ts";

function held(iata: string, type: string, changes: Partial<HeldChange>): HeldChange {
  const record = { ...ZURICH, iata, type };
  const id = `${iata}-0123456789abcdef`;
  return aHeldChange({ id, iata, before: record, after: record, ...changes });
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
