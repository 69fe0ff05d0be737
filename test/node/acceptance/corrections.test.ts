import { beforeEach, describe, expect, it } from "vitest";
import type { Correction } from "../../../src/catalog/source-airport.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

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

let life: UpstreamLife;

beforeEach(() => {
  life = correctedLife([NEW_NAME, ADDED, OTHER], CORRECTIONS);
});

function correctedLife(airports: readonly SourceAirport[], corrections: readonly Correction[]) {
  const corrected = new UpstreamLife(airports);
  corrected.corrections = corrections;
  return corrected;
}

const codes = () => life.ledger.accepted.airports.map(({ iata }) => iata);
const waiting = () => life.held().filter(({ state }) => state === "waiting");

describe("a correction of the snapshot", () => {
  it("holds for as long as upstream says what it said then", () => {
    life.nextDays(9, UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
    const since = "2026-11-01T04:17:00.000Z";
    expect(life.held()).toMatchObject([
      {
        state: "corrected",
        before: { name: NEW_NAME.name },
        after: { name: OLD_NAME.name },
        since,
      },
      { iata: "DAX", state: "corrected", before: null, since },
      { iata: "KIN", state: "corrected", after: null, since },
    ]);
  });

  it("outlives other edits of the airport, which wait as ever", () => {
    life.nextDays(4, [{ ...OLD_NAME, icao: "OMAA", id: "901" }, CLOSED, OTHER]);
    expect(life.airport("AUH")).toEqual({ ...NEW_NAME, icao: "OMAA", row: "901" });
    expect(waiting()).toEqual([]);
  });

  it("ends when upstream agrees, and the airport keeps its id", () => {
    const kingston = { ...ADDED, id: "37", lat: 17.91 };
    life.nextDay([NEW_NAME, OTHER, kingston]);
    expect(life.airport("KIN")).toMatchObject({ id: ADDED.id, row: "37", lat: 17.91 });
    expect(life.held()).toEqual([]);
  });

  it("ends once something new that upstream says has waited", () => {
    const renamed = { ...OLD_NAME, name: "Bateen Airport" };
    const opened = { ...CLOSED, name: "DAX Open" };
    const moved = { ...ADDED, id: "37", lat: 18.9 };
    life.nextDay([renamed, opened, OTHER, moved]);
    expect(life.reasons()).toEqual([
      "KIN: changes_code, appears",
      "AUH: changes_name",
      "KIN: leaves",
      "DAX: appears",
    ]);
    life.nextDays(3, [renamed, opened, OTHER, moved]);
    expect(life.airport("AUH")?.name).toBe("Bateen Airport");
    expect(life.airport("DAX")).toMatchObject({ id: "2" });
    // Its code is free when the airport that has it has been missing for thirty days.
    life.nextDays(26, [renamed, opened, OTHER, moved]);
    expect(life.airport("KIN")).toMatchObject({ id: ADDED.id });
    life.nextDay([renamed, opened, OTHER, moved]);
    expect(life.airport("KIN")).toMatchObject({ id: "37" });
    expect(life.held()).toEqual([]);
  });

  it("outlives a day on which upstream says something else", () => {
    life.nextDay(UNCHANGED);
    life.nextDay([{ ...OLD_NAME, name: "Ghost" }, OTHER]);
    life.nextDays(5, UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
  });

  it("waits like any other change if a newer snapshot brings it", () => {
    life = correctedLife([OLD_NAME, CLOSED, OTHER], CORRECTIONS);
    life.nextDays(3, UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "DAX"]);
    life.nextDay(UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
  });

  it("turns what it hid into a held change when a newer snapshot withdraws it: for three days, or thirty if no row lists the airport", () => {
    life.nextDays(9, UNCHANGED);
    life.corrections = [];
    life.nextDays(3, UNCHANGED);
    expect(waiting()).toHaveLength(3);
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
    life.nextDay(UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "DAX", "KIN"]);
    expect(life.airport("AUH")?.name).toBe(OLD_NAME.name);
    life.nextDays(27, UNCHANGED);
    expect(codes()).toEqual(["AUH", "BRN", "DAX"]);
  });

  it("holds for a closed airport under another row number", () => {
    life.nextDays(5, [NEW_NAME, ADDED, OTHER, { ...CLOSED, id: "902" }]);
    expect(codes()).not.toContain("DAX");
  });

  it("holds for a row up to 2 km from the position that upstream wrote", () => {
    const moved = { ...OLD_NAME, lat: OLD_NAME.lat + 0.5 };
    life = correctedLife([moved], [{ id: "1", written: OLD_NAME, ours: moved }]);
    life.nextDays(5, [{ ...OLD_NAME, lat: OLD_NAME.lat + 0.01 }]);
    expect(life.airport("AUH")?.lat).toBe(moved.lat);
    life.nextDays(4, [{ ...OLD_NAME, lat: OLD_NAME.lat + 0.03 }]);
    expect(life.airport("AUH")?.lat).toBe(OLD_NAME.lat + 0.03);
  });

  it("gives no airport a code that another one has", () => {
    const recoded = { ...OTHER, iata: "AUH" };
    life = correctedLife([OLD_NAME, OTHER], [{ id: OTHER.id, written: OTHER, ours: recoded }]);
    life.nextDays(5, [OLD_NAME, OTHER]);
    expect(codes()).toEqual(["AUH", "BRN"]);
    expect(life.held()).toEqual([]);
  });

  it("changes nothing of an airport elsewhere to which another source gives its number", () => {
    const written = { ...OLD_NAME, scheduled: false };
    life = correctedLife([NEW_NAME, OTHER], [{ id: "1", written, ours: NEW_NAME }]);
    const elsewhere = airportNumber(905, "XEL", { id: "1", scheduled: false });
    life.nextDays(4, [elsewhere, OTHER]);
    expect(life.airport("XEL")).toMatchObject({ name: elsewhere.name, scheduled: false });
    expect(life.held().filter(({ state }) => state === "corrected")).toEqual([]);
  });

  it("refuses to be approved or rejected", () => {
    life.nextDay(UNCHANGED);
    life.nextDay(UNCHANGED, {
      decisions: [life.decision("approved", 0), life.decision("rejected", 1)],
    });
    expect(life.airport("AUH")?.name).toBe(NEW_NAME.name);
    expect(new Set(life.held().map(({ state }) => state))).toEqual(new Set(["corrected"]));
  });
});

describe("a correction of a code", () => {
  const written = airportNumber(1, "PKR", { name: "Pokhara International Airport" });
  const ours = { ...written, iata: "PHH" };
  const domestic = {
    ...written,
    id: "1000000002",
    lat: written.lat + 0.02,
    name: "Pokhara Domestic",
  };

  beforeEach(() => {
    life = correctedLife(
      [ours, domestic],
      [
        { id: "1", written, ours },
        { id: domestic.id, written: undefined, ours: domestic },
      ],
    );
  });

  it("holds though another airport nearby has the code that upstream writes", () => {
    life.nextDays(5, [written]);
    expect(life.airport("PHH")).toMatchObject({ id: "1", name: written.name });
    expect(life.airport("PKR")).toMatchObject({ id: domestic.id, name: domestic.name });
    expect(life.held()).toMatchObject([{ state: "corrected" }, { state: "corrected" }]);
  });

  it("holds for a row that upstream has renumbered", () => {
    life = correctedLife([ours], [{ id: "1", written, ours }]);
    life.nextDay([{ ...written, id: "901" }]);
    expect(life.airport("PHH")).toMatchObject({ id: "1", row: "901" });
    expect(life.held()).toMatchObject([{ state: "corrected" }]);
  });

  it("ends when upstream gives the row to the other airport", () => {
    const swapped = [
      { ...domestic, id: "1", scheduled: written.scheduled },
      { ...ours, id: "9" },
    ];
    life.nextDay(swapped);
    expect(life.airport("PHH")).toMatchObject({ id: "1", row: "9" });
    expect(life.airport("PKR")).toMatchObject({ id: domestic.id, row: "1" });
    life.nextDay(swapped);
    expect(life.held()).toEqual([]);
  });

  it("corrects nothing of another airport that has got the row of the corrected one", () => {
    const served = { ...ours, scheduled: true };
    life = correctedLife(
      [served, domestic],
      [{ id: "1", written: { ...written, scheduled: false }, ours: served }],
    );
    life.nextDays(4, [
      { ...domestic, id: "1", scheduled: false },
      { ...ours, id: "9" },
    ]);
    expect(life.airport("PKR")).toMatchObject({ row: "1", scheduled: false });
  });
});
