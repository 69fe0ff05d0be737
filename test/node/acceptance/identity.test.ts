import { beforeEach, describe, expect, it } from "vitest";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { airportNumber, BASEL, BERN, FIELD, UpstreamLife } from "../../builders/upstream-life.ts";

const ALL = [BASEL, BERN, FIELD];

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
});

/** An upstream for as many days as any change waits, also that a row is missing. */
const settle = (airports: readonly SourceAirport[]) => life.nextDays(31, airports);

describe("the identity of an airport", () => {
  it("outlives new row numbers for all", () => {
    life.nextDay(ALL.map((airport) => ({ ...airport, id: String(600_000 + Number(airport.id)) })));
    expect(life.ledger.accepted.airports.map(({ id, row }) => [id, row])).toEqual([
      ["2", "600002"],
      ["1", "600001"],
      ["3", "600003"],
    ]);
    expect(life.held()).toEqual([]);
  });

  it("outlives another code at its place", () => {
    settle([BASEL, BERN, { ...FIELD, iata: "XNW" }]);
    expect(life.airport("XNW")).toMatchObject({ id: "3" });
  });

  it("survives when the airport gets the row number of another one that is gone", () => {
    settle([BASEL, { ...BERN, id: FIELD.id }]);
    expect(life.airport("BRN")).toMatchObject({ id: BERN.id, row: FIELD.id });
    expect(life.airport("XFD")).toBeUndefined();
  });

  it("does not go with the code to another place", () => {
    settle([BASEL, BERN, { ...FIELD, id: "9", lat: FIELD.lat + 0.2 }]);
    expect(life.airport("XFD")).toMatchObject({ id: "9" });
  });

  it("does not go with the row to another place", () => {
    settle([BASEL, BERN, { ...FIELD, iata: "XNW", lat: FIELD.lat + 0.2 }]);
    expect(life.airport("XNW")).toMatchObject({ id: "2000000003", row: "3" });
    expect(life.airport("XFD")).toBeUndefined();
  });

  it("gives a new airport an identity of its own if its row number is taken, whatever else is new", () => {
    const renumbered = ALL.map((airport) => ({ ...airport, id: `90${airport.id}` }));
    const [one, other] = [airportNumber(5, "XXA"), airportNumber(6, "XXB")];
    life.nextDay([...renumbered, { ...one, id: "1" }, { ...other, id: "2" }]);
    for (let day = 0; day < 3; day++) life.nextDay([...renumbered, { ...other, id: "2" }]);
    expect(life.airport("XXB")).toMatchObject({ id: "2000000002", row: "2" });
    life.nextDay([...renumbered, { ...other, id: "2" }]);
    expect(life.airport("XXB")).toMatchObject({ id: "2000000002", row: "2" });
  });

  it("lets an airport keep its code for as long as the one whose code it gets keeps that", () => {
    const [first, second] = [airportNumber(4, "XAA"), airportNumber(5, "XBB")];
    life = new UpstreamLife([BASEL, first, second]);
    const upstream = [
      { ...BASEL, iata: "XCC" },
      { ...first, iata: "XBB" },
      { ...second, iata: "BSL" },
    ];
    life.nextDay(upstream);
    life.nextDay(upstream, { decisions: [life.decision("rejected")] });
    life.nextDays(7, upstream);
    expect(life.reasons()).toEqual(["BSL: changes_code", "XAA: changes_code", "XBB: changes_code"]);
    expect(life.ledger.accepted.airports).toMatchObject([
      { iata: "BSL", id: "1" },
      { iata: "XAA", id: "4" },
      { iata: "XBB", id: "5" },
    ]);
  });

  it("lets two airports exchange their codes", () => {
    const other = airportNumber(4, "XOT");
    life = new UpstreamLife([FIELD, other]);
    settle([
      { ...FIELD, iata: "XOT" },
      { ...other, iata: "XFD" },
    ]);
    expect(life.airport("XOT")?.id).toBe("3");
    expect(life.airport("XFD")?.id).toBe("4");
    expect(life.held()).toEqual([]);
  });
});
