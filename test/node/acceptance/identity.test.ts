import { beforeEach, describe, expect, it } from "vitest";
import { airportNumber, BASEL, BERN, FIELD, UpstreamLife } from "../../builders/upstream-life.ts";

const ALL = [BASEL, BERN, FIELD];

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
});

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
    life.nextDay([BASEL, BERN, { ...FIELD, iata: "XNW" }]);
    expect(life.airport("XNW")).toMatchObject({ id: "3" });
  });

  it("outlives the row number of another airport that is gone", () => {
    life.nextDay([BASEL, { ...BERN, id: FIELD.id }]);
    expect(life.airport("BRN")).toMatchObject({ id: BERN.id, row: FIELD.id });
    expect(life.held()).toEqual([]);
  });

  it("does not go with the code to another place", () => {
    const elsewhere = { ...FIELD, id: "9", lat: FIELD.lat + 0.2 };
    life.nextDay([BASEL, BERN, elsewhere]);
    expect(life.airport("XFD")).toMatchObject({ id: "9" });
  });

  it("does not go with the row to another place", () => {
    life.nextDay([BASEL, BERN, { ...FIELD, iata: "XNW", lat: FIELD.lat + 0.2 }]);
    expect(life.airport("XNW")).toMatchObject({ id: "2000000000", row: "3" });
    expect(life.airport("XFD")).toBeUndefined();
  });

  it("is another number for each of some new airports whose row numbers are taken", () => {
    const small = { type: "small_airport", scheduled: false } as const;
    const renumbered = ALL.map((airport) => ({ ...airport, id: `90${airport.id}` }));
    const [one, other] = [5, 6].map((number) =>
      airportNumber(number, `XX${"AB"[number - 5]}`, small),
    );
    if (one === undefined || other === undefined) throw new Error("two airports");
    life.nextDay([...renumbered, { ...one, id: "1" }, { ...other, id: "2" }]);
    expect(life.airport("XXA")?.id).toBe("2000000000");
    expect(life.airport("XXB")?.id).toBe("2000000001");
  });

  it("lets an airport keep its code for as long as the one whose code it gets keeps that", () => {
    const small = { type: "small_airport", scheduled: false } as const;
    const [first, second] = [airportNumber(4, "XAA", small), airportNumber(5, "XBB", small)];
    const all = [BASEL, first, second];
    life = new UpstreamLife(all);
    life.nextDay([
      { ...BASEL, iata: "XCC" },
      { ...first, iata: "XBB" },
      { ...second, iata: "BSL" },
    ]);
    expect(life.ledger.accepted.airports).toMatchObject([
      { iata: "BSL", id: "1" },
      { iata: "XAA", id: "4" },
      { iata: "XBB", id: "5" },
    ]);
    expect(life.reasons()).toEqual([
      "BSL code: changes_code",
      "XAA code: takes_code",
      "XBB code: takes_code",
    ]);
  });

  it("lets two airports exchange their codes", () => {
    const [one, other] = [
      FIELD,
      airportNumber(4, "XOT", { ...FIELD, id: "4", iata: "XOT", lat: 1 }),
    ];
    life = new UpstreamLife([one, other]);
    life.nextDay([
      { ...one, iata: "XOT" },
      { ...other, iata: "XFD" },
    ]);
    expect(life.airport("XOT")?.id).toBe("3");
    expect(life.airport("XFD")?.id).toBe("4");
    expect(life.held()).toEqual([]);
  });
});
