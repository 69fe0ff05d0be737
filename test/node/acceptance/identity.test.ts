import { beforeEach, describe, expect, it } from "vitest";
import type { UpstreamAirports } from "../../../src/acceptance/airport.ts";
import { countListed } from "../../../src/acceptance/identity.ts";
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

describe("countListed", () => {
  const used = { ...BASEL, row: "1" };
  const small = { ...FIELD, row: "3", scheduled: false, type: "small_airport" } as const;
  const row = (id: string, iata: string) => ({ ...BASEL, id, iata });
  const listing = (
    ...airports: SourceAirport[]
  ): Pick<UpstreamAirports, "airports" | "delistedRows"> => ({
    airports,
    delistedRows: new Map(),
  });

  it.each([
    ["with the row of its number and code", listing(row("1", "BSL")), 1],
    ["with a row of its number and another code", listing(row("1", "XXX")), 1],
    ["with a row of another number and its code", listing(row("9", "BSL")), 1],
    ["with a row of neither", listing(row("9", "XXX")), 0],
    [
      "with a row that says that it is closed",
      { ...listing(), delistedRows: new Map([["1", "closed"] as const]) },
      1,
    ],
    ["without a row", listing(), 0],
  ] as const)("counts an airport that travellers use %s", (_, upstream, after) => {
    expect(countListed([used], upstream, 0)).toEqual({ before: 1, after, least: 1 });
  });

  it("counts no airport that nobody uses", () => {
    expect(countListed([small], listing(small), 0)).toEqual({ before: 0, after: 0, least: 0 });
  });

  it.each([
    [25, 8, 23],
    [25, 0, 25],
    [25, 100, 0],
    [12, 8, 12],
    [13, 8, 12],
  ])("wants of %i airports all but %i percent, rounded down: %i", (before, percent, least) => {
    const airports = Array.from({ length: before }, () => used);
    expect(countListed(airports, listing(), percent)).toMatchObject({ before, least });
  });
});
