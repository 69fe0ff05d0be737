import { beforeEach, describe, expect, it } from "vitest";
import { isKnownName } from "../../../src/acceptance/rules.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import {
  airportNumber,
  BASEL,
  BERN,
  FIELD,
  UpstreamLife,
  withBasel,
} from "../../builders/upstream-life.ts";

const ALL = [BASEL, BERN, FIELD];

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
});

describe("a change of an airport that travellers use", () => {
  it.each<[string, Partial<SourceAirport>]>([
    ["changes_name", { name: "Ghost International Airport" }],
    ["changes_name", { name: "EuroAirport Basel Ghost" }],
    ["changes_name", { name: "BSL Town Ghost Airport" }],
    ["changes_name", { name: "EuroAirportsucks Basel" }],
    ["changes_name", { name: "EuroAirport Basel Призрак" }],
    ["changes_name", { name: "EuroAirport Basel 幽灵" }],
    ["changes_name", { name: "Airport" }],
    ["obscene, changes_name", { name: "EuroAirport Basel Shithole" }],
    ["obscene", { municipality: "BSL Town (Scheiße)" }],
    ["changes_code", { iata: "MLH" }],
    ["moves", { country: "DE" }],
    ["moves", { lat: BASEL.lat + 0.182 }],
    ["changes_name", { municipality: "Nowhere" }],
    ["moves", { region: "CH-BS" }],
    ["moves", { region: "FR-U-A" }],
    ["demoted", { type: "small_airport", scheduled: false }],
    ["demoted", { scheduled: false }],
  ])("matches the rule %s: %o", (rule, changes) => {
    life.nextDay(withBasel(changes));
    expect(life.reasons()).toEqual([`BSL: ${rule}`]);
  });

  it.each<[string, Partial<SourceAirport>]>([
    ["a longer name", { name: "The new Basel International EuroAirport" }],
    ["a shorter name", { name: "Basel" }],
    ["a name with its municipality", { name: "EuroAirport Basel BSL Town" }],
    ["a name with other spaces", { name: "Euro Airport Basel" }],
    ["the name of its municipality", { name: "BSL Town International" }],
    ["its name as municipality", { municipality: "Basel" }],
    ["a move of 19.8 km", { lat: BASEL.lat + 0.178 }],
    ["another ICAO code", { icao: "LFSB" }],
    ["a smaller size with scheduled service", { type: "medium_airport" }],
  ])("matches no rule: %s", (_, changes) => {
    life.nextDay(withBasel(changes));
    expect(life.reasons()).toEqual(["BSL: "]);
  });

  it("matches no rule if its subdivision was unknown", () => {
    life = new UpstreamLife([{ ...BASEL, region: "FR-U-A" }]);
    life.nextDay([BASEL]);
    expect(life.reasons()).toEqual(["BSL: "]);
  });

  it("matches several rules, listed by urgency, and is filed under the first", () => {
    const renamed = { ...BERN, name: "Ghost" };
    life.nextDay([
      { ...BASEL, name: "Ghost", country: "DE" },
      renamed,
      { ...FIELD, name: "Ghost" },
    ]);
    expect(life.reasons()).toEqual(["BSL: moves, changes_name", "BRN: changes_name", "XFD: "]);
  });
});

describe("a change of a small airport", () => {
  it("matches the rules for larger airports if it makes the airport one that travellers use", () => {
    life.nextDay([BASEL, BERN, { ...FIELD, name: "Ghost", type: "large_airport" }]);
    expect(life.reasons()).toEqual(["XFD: changes_name, appears"]);
  });

  it("matches a rule if it takes another airport's code", () => {
    life.nextDay([{ ...BASEL, iata: "XFD" }, BERN, { ...FIELD, iata: "XNW" }]);
    expect(life.reasons()).toEqual(["BSL: changes_code", "XFD: "]);
  });

  it("matches a rule if its name would be obscene", () => {
    life.nextDay([BASEL, BERN, { ...FIELD, name: "Arschloch Field" }]);
    expect(life.reasons()).toEqual(["XFD: obscene"]);
  });

  it("matches no rule if the airport only vanishes, moves or opens", () => {
    const opened = { ...FIELD, id: "4", iata: "XOP", lat: 1 };
    life.nextDay([BASEL, BERN, { ...FIELD, lat: FIELD.lat + 3, country: "CN" }, opened]);
    expect(life.reasons()).toEqual(["XFD: ", "XOP: "]);
    life.nextDay([BASEL, BERN]);
    expect(life.reasons()).toEqual(["XFD: "]);
  });
});

describe("a list of airports that lose their scheduled service", () => {
  const served = Array.from({ length: 12 }, (_, index) =>
    airportNumber(11 + index, `XS${"ABCDEFGHIJKL"[index]}`),
  );
  const without = (count: number) =>
    served.map((airport, index) => (index < count ? { ...airport, scheduled: false } : airport));
  const withService = () =>
    life.ledger.accepted.airports.filter(({ scheduled }) => scheduled).length;

  beforeEach(() => {
    life = new UpstreamLife(served);
  });

  it("waits for three days if it has at most ten airports", () => {
    life.nextDays(3, without(10));
    expect(new Set(life.held().map(({ rules }) => rules.join()))).toEqual(new Set(["demoted"]));
    expect(withService()).toBe(12);
    life.nextDay(without(10));
    expect(withService()).toBe(2);
  });

  it("waits for thirty days if it has more than ten airports", () => {
    life.nextDays(30, without(11));
    expect(life.held()).toHaveLength(11);
    expect(new Set(life.held().map(({ rules }) => rules.join()))).toEqual(
      new Set(["service_lost,demoted"]),
    );
    expect(withService()).toBe(12);
    life.nextDay(without(11));
    expect(withService()).toBe(1);
  });

  it("counts airports that are closed or lose their code, which wait with the others", () => {
    const rest = without(10).slice(0, 11);
    life.nextDays(4, rest, { delistedRows: new Map([["22", "closed"]]) });
    expect(withService()).toBe(12);
    expect(life.reasons().slice(0, 2)).toEqual([
      "XSL: leaves, service_lost",
      "XSA: service_lost, demoted",
    ]);
  });

  it("waits for thirty days even if upstream fixes a part of it or edits the rest", () => {
    const fixed = [...served.slice(0, 6), ...without(11).slice(6)];
    life.nextDay(without(11));
    life.nextDays(9, fixed);
    expect(withService()).toBe(12);
    life.nextDays(
      30,
      fixed.map((airport) => ({ ...airport, icao: "LFSB" })),
    );
    expect(withService()).toBe(12);
  });

  it("counts each source separately", () => {
    life.nextDay(without(11), { source: "dropped" });
    life.nextDays(4, without(1));
    expect(withService()).toBe(11);
  });
});

describe("a region of small airports", () => {
  const region = "ABCD".split("").map((letter, index) =>
    airportNumber(11 + index, `XA${letter}`, {
      type: "small_airport",
      scheduled: false,
      region: "BD-C",
    }),
  );
  const ways: [string, string, (airport: SourceAirport) => SourceAirport[]][] = [
    ["vanish", "leaves", () => []],
    ["are said to be elsewhere", "moves", (airport) => [{ ...airport, region: "BD-3" }]],
  ];

  it.each(ways)("marks the airports that %s if they are half of the region", (_, rule, edit) => {
    life = new UpstreamLife(region);
    life.nextDay([...region.slice(0, 1).flatMap(edit), ...region.slice(1)]);
    expect(life.reasons()).toEqual(["XAA: "]);
    life.nextDay([...region.slice(0, 2).flatMap(edit), ...region.slice(2)]);
    expect(life.reasons()).toEqual([`XAA: ${rule}`, `XAB: ${rule}`]);
  });

  it("may lose any airport if it has fewer than four", () => {
    life = new UpstreamLife(region.slice(0, 3));
    life.nextDay([]);
    expect(life.reasons()).toEqual(["XAA: ", "XAB: ", "XAC: "]);
  });

  it("does not exist for airports without a subdivision", () => {
    life = new UpstreamLife(region.map((airport) => ({ ...airport, region: "BD-U-A" })));
    life.nextDay([]);
    expect(new Set(life.held().flatMap(({ rules }) => rules))).toEqual(new Set());
  });

  it("leaves an airport unmarked that stays in it", () => {
    const [first, ...others] = region;
    if (first === undefined) throw new Error("the region is empty");
    life = new UpstreamLife(region);
    life.nextDay([{ ...first, name: "Renamed" }, ...others.slice(2)]);
    expect(life.reasons()).toEqual(["XAB: leaves", "XAC: leaves", "XAA: "]);
  });
});

it.each([
  ["Basel Airport", "EuroAirport Basel", true],
  ["Andijan Airport", "Andijana Airport", true],
  ["LaGuardia Airport", "La Guardia Airport", true],
  ["Zürich-Kloten", "Zurich Kloten", true],
  ["成田", "成田", true],
  ["成田", "羽田", false],
  ["Ghost", "羽田", false],
  ["Euro Ghost", "EuroAirport Basel", false],
  ["Basle Ghost", "Basel", false],
  ["O Ghost", "O Basel", false],
  ["Ghost International Airport", "Basel International Airport", false],
])("the rules say whether %s is a known name of %s: %s", (written, name, isKnown) => {
  expect(isKnownName(written, { name, municipality: "-" })).toBe(isKnown);
  expect(isKnownName(written, { name: "-", municipality: name })).toBe(isKnown);
});
