import { describe, expect, it } from "vitest";
import {
  applyCorrections,
  type Correction,
  firstLedger,
} from "../../../src/acceptance/corrections.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

const MADE = { now: Date.parse("2026-11-01T00:00:00.000Z"), runId: "run", source: "embedded" };

/** What upstream wrote on the snapshot's day, and what the snapshot says. */
const OLD_NAME = airportNumber(1, "AUH", { name: "Abu Dhabi International Airport" });
const NEW_NAME = { ...OLD_NAME, name: "Zayed International Airport" };
const CLOSED = airportNumber(2, "DAX");
const ADDED = airportNumber(1_000_000_003, "KIN", { lat: 17.9, lon: -76.8 });
const OTHER = airportNumber(4, "BRN");

const CORRECTIONS: readonly Correction[] = [
  { id: "1", written: OLD_NAME, ours: NEW_NAME },
  { id: "2", written: CLOSED, ours: undefined },
  { id: ADDED.id, written: undefined, ours: ADDED },
];
/** What upstream said then, and goes on saying. */
const UNCHANGED = [OLD_NAME, CLOSED, OTHER];

function corrected(): UpstreamLife {
  const life = new UpstreamLife([]);
  life.ledger = applyCorrections(firstLedger([NEW_NAME, ADDED, OTHER]), CORRECTIONS, MADE);
  return life;
}

const codes = (life: UpstreamLife) => life.ledger.accepted.airports.map(({ iata }) => iata);

describe("a correction of the snapshot", () => {
  it("holds for as long as upstream says what it said then", () => {
    const life = corrected();
    for (let day = 0; day < 9; day++) life.nextDay(UNCHANGED);
    expect(codes(life)).toEqual(["AUH", "BRN", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
    expect(life.held()).toMatchObject([
      { iata: "AUH", part: "name", state: "corrected" },
      { iata: "DAX", part: "listing", state: "corrected", before: null },
      { iata: "KIN", part: "listing", state: "corrected", after: null },
    ]);
    expect(life.held().map(({ source }) => source)).toEqual(Array(3).fill("ourairports"));
  });

  it("ends when upstream agrees, and the airport keeps its id", () => {
    const life = corrected();
    const kingston = { ...ADDED, id: "37", lat: 17.95 };
    life.nextDay([NEW_NAME, OTHER, kingston]);
    expect(life.airport("KIN")).toMatchObject({ id: ADDED.id, row: "37", lat: 17.95 });
    // The row of the closed airport may come back.
    expect(life.held()).toMatchObject([{ iata: "DAX", state: "corrected" }]);
  });

  it("ends like any other value when upstream says something new", () => {
    const life = corrected();
    life.nextDay([{ ...OLD_NAME, name: "Zayed Airport of Abu Dhabi" }, CLOSED, OTHER]);
    expect(life.airport("AUH")?.name).toBe("Zayed Airport of Abu Dhabi");
    life.nextDay([{ ...OLD_NAME, name: "Ghost" }, { ...CLOSED, name: "DAX Open" }, OTHER]);
    expect([...new Set(life.reasons())]).toEqual([
      "AUH name: changes_name",
      "DAX listing: appears",
      "KIN listing: vanishes",
    ]);
  });

  it("of a code holds though another airport nearby has the code that upstream writes", () => {
    const written = airportNumber(1, "PKR", { name: "Pokhara International Airport" });
    const ours = { ...written, iata: "PHH" };
    const domestic = { ...written, id: "2", lat: written.lat + 0.02, name: "Pokhara Domestic" };
    const life = new UpstreamLife([]);
    const corrections = [
      { id: "1", written, ours },
      { id: "2", written: undefined, ours: domestic },
    ];
    life.ledger = applyCorrections(firstLedger([ours, domestic]), corrections, MADE);
    life.nextDay([written]);
    expect(life.airport("PHH")).toMatchObject({ id: "1", name: written.name });
    expect(life.airport("PKR")).toMatchObject({ id: "2", name: domestic.name });
    expect(life.held()).toMatchObject([{ state: "corrected" }, { state: "corrected" }]);
    // Upstream corrects itself: the row is the domestic airport's now.
    life.nextDay([
      { ...domestic, id: "1" },
      { ...ours, id: "9" },
    ]);
    expect(life.airport("PHH")).toMatchObject({ id: "1", row: "9" });
    expect(life.airport("PKR")).toMatchObject({ id: "2", row: "1" });
  });

  it("outlives a day on which upstream says something else", () => {
    const life = corrected();
    life.nextDay(UNCHANGED);
    life.nextDay([{ ...OLD_NAME, name: "Ghost" }, OTHER]);
    for (let day = 1; day <= 5; day++) life.nextDay(UNCHANGED);
    expect(codes(life)).toEqual(["AUH", "BRN", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
  });

  it("gives no airport a code that another one has", () => {
    const recoded = { ...OTHER, iata: "AUH" };
    const life = new UpstreamLife([]);
    const correction = { id: OTHER.id, written: OTHER, ours: recoded };
    life.ledger = applyCorrections(firstLedger([OLD_NAME, OTHER]), [correction], MADE);
    expect(codes(life)).toEqual(["AUH", "BRN"]);
  });

  it("is made later where it did not fit at first", () => {
    const newer = { ...OLD_NAME, name: "Abu Dhabi Bateen Airport" };
    const life = new UpstreamLife([]);
    life.ledger = applyCorrections(firstLedger([newer, OTHER]), CORRECTIONS, MADE);
    life.nextDay([OLD_NAME, CLOSED, OTHER]);
    expect(life.airport("AUH")?.name).toBe(OLD_NAME.name);
    life.ledger = applyCorrections(life.ledger, CORRECTIONS, MADE);
    life.nextDay([OLD_NAME, CLOSED, OTHER]);
    expect(life.airport("AUH")).toEqual({ ...NEW_NAME, row: "1" });
  });

  it("takes the place of what waits, but not of what an operator has decided", () => {
    const first = corrected();
    const states = (state: "waiting" | "rejected") => {
      const decided_by = state === "waiting" ? null : "ops";
      const held = first.held().map((each) => ({ ...each, state, decided_by }));
      const accepted = { ...first.ledger.accepted, corrections: [] };
      return applyCorrections({ accepted, held }, CORRECTIONS, MADE).held.map((each) => each.state);
    };
    expect(new Set(states("waiting"))).toEqual(new Set(["corrected"]));
    expect(new Set(states("rejected"))).toEqual(new Set(["rejected"]));
  });

  it("leaves a closed airport its present row number", () => {
    const life = new UpstreamLife([CLOSED]);
    life.nextDay([{ ...CLOSED, id: "902" }]);
    const { accepted } = applyCorrections(life.ledger, CORRECTIONS, MADE);
    expect(accepted.gone).toMatchObject([{ id: "2", row: "902" }]);
  });

  it("is made once only: what an operator approves over it stays", () => {
    const life = corrected();
    life.nextDay(UNCHANGED);
    const decisions = life.held().map(({ id }) => ({ ...life.decision("approved"), id }));
    life.nextDay(UNCHANGED, { decisions });
    expect(codes(life)).toEqual(["AUH", "BRN", "DAX"]);
    const again = applyCorrections(life.ledger, CORRECTIONS, MADE);
    expect(again).toEqual(life.ledger);
  });

  it("of a newer snapshot changes a ledger that still has what it corrects, and nothing else", () => {
    const ledger = firstLedger([OLD_NAME, CLOSED, OTHER]);
    const { accepted } = applyCorrections(ledger, CORRECTIONS, MADE);
    expect(accepted.airports.map(({ name }) => name)).toEqual([
      NEW_NAME.name,
      OTHER.name,
      ADDED.name,
    ]);
    expect(accepted.gone).toMatchObject([{ id: "2", iata: "DAX" }]);
    const newer = { ...OLD_NAME, name: "Bateen Airport" };
    const taken = { ...OTHER, iata: "KIN" };
    const kept = applyCorrections(firstLedger([newer, taken]), CORRECTIONS, MADE);
    expect(kept.accepted.airports.map(({ name }) => name)).toEqual([newer.name, taken.name]);
    expect(kept.held.map(({ iata }) => iata)).toEqual(["DAX"]);
  });
});
