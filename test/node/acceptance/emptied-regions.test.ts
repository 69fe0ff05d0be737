import { describe, expect, it } from "vitest";
import type { SourceAirport } from "../../../src/sources/our-airports.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

let life: UpstreamLife;

describe("a region that loses half of its airports", () => {
  const regionOf = (letters: string) =>
    letters.split("").map((letter, index) =>
      airportNumber(11 + index, `XA${letter}`, {
        type: "small_airport",
        scheduled: false,
        region: "BD-C",
      }),
    );
  const region = regionOf("ABCD");
  const ways: [string, (airport: SourceAirport) => SourceAirport[]][] = [
    ["gone", () => []],
    ["under another code", (airport) => [{ ...airport, region: "BD-3" }]],
  ];
  /** The airports of which the first ones are changed. */
  const changed = (airports: SourceAirport[], count: number, change: (typeof ways)[0][1]) => [
    ...airports.slice(0, count).flatMap(change),
    ...airports.slice(count),
  ];

  it.each(ways)("keeps them, however small they are, where they are %s", (_, change) => {
    life = new UpstreamLife(region);
    life.nextDay(changed(region, 2, change));
    expect(life.held().map(({ rules }) => rules)).toEqual([["region_emptied"], ["region_emptied"]]);
    expect(life.ledger.accepted.airports).toHaveLength(4);
  });

  it.each(ways)("keeps those that are %s on the next day", (_, change) => {
    life = new UpstreamLife(region);
    life.nextDay(changed(region, 1, change));
    expect(life.held()).toEqual([]);
    life.nextDay(changed(region, 2, change));
    expect(life.held()).toMatchObject([{ iata: "XAB", rules: ["region_emptied"] }]);
    life.nextDay(region);
    expect(life.held()).toEqual([]);
  });

  it.each(ways)("holds those that are %s later for three days of their own", (_, change) => {
    life = new UpstreamLife(region);
    for (let day = 0; day < 2; day++) life.nextDay(changed(region, 1, change));
    for (let day = 2; day < 5; day++) {
      life.nextDay(changed(region, 4, change));
      expect(life.held().map(({ iata }) => iata)).toEqual(["XAB", "XAC", "XAD"]);
    }
    life.nextDay(changed(region, 4, change));
    expect(life.held()).toEqual([]);
  });

  const elsewhere = { region: "BD-3" };
  const lives: [string, (first: SourceAirport) => SourceAirport[][]][] = [
    [
      "moves, and moves a little again",
      (first) => [
        [{ ...first, ...elsewhere }],
        [{ ...first, ...elsewhere, lat: first.lat + 0.01 }],
      ],
    ],
    ["moves, and is gone", (first) => [[{ ...first, ...elsewhere }], []]],
    ["is gone, and comes back elsewhere", (first) => [[], [{ ...first, ...elsewhere }]]],
  ];

  it.each(lives)("remembers one that %s", (_, lifeOf) => {
    life = new UpstreamLife(region);
    const [first, ...others] = region;
    if (first === undefined) throw new Error("the region is empty");
    const days = lifeOf(first);
    for (const day of days) life.nextDay([...day, ...others]);
    expect(life.held()).toEqual([]);
    life.nextDay([...(days.at(-1) ?? []), ...others.slice(1)]);
    expect(life.held()).toMatchObject([{ iata: "XAB", rules: ["region_emptied"] }]);
  });

  it.each(ways)("lets some go that are %s three days after others", (_, change) => {
    const six = regionOf("ABCDEF");
    life = new UpstreamLife(six);
    for (let day = 0; day <= 3; day++) life.nextDay(changed(six, 2, change));
    life.nextDay(changed(six, 3, change));
    expect(life.held()).toEqual([]);
  });

  it.each(ways)("keeps no more than that where an operator has let some be %s", (_, change) => {
    life = new UpstreamLife(region);
    const upstream = changed(region, 2, change);
    life.nextDay(upstream);
    const decisions = life.held().map(({ id }) => ({ ...life.decision("approved"), id }));
    life.nextDay(upstream, { decisions });
    life.nextDay(changed(region, 3, change));
    expect(life.held()).toEqual([]);
  });

  it("lets one come back while others leave", () => {
    const move = (airport: SourceAirport) => [{ ...airport, region: "BD-3" }];
    life = new UpstreamLife(region);
    life.nextDay(changed(region, 1, move));
    life.nextDay([...region.slice(0, 1), ...changed(region.slice(1), 2, move)]);
    expect(life.held().map(({ iata }) => iata)).toEqual(["XAB", "XAC"]);
    expect(life.airport("XAA")?.region).toBe("BD-C");
  });

  it("is none: what is in no region may go", () => {
    life = new UpstreamLife(region.map((airport) => ({ ...airport, region: "BD-U-A" })));
    life.nextDay([]);
    expect(life.ledger.accepted.airports).toEqual([]);
  });

  it("has fewer than four: it may lose any", () => {
    life = new UpstreamLife(region.slice(0, 3));
    life.nextDay(region.slice(0, 1));
    expect(life.ledger.accepted.airports).toHaveLength(1);
  });
});
