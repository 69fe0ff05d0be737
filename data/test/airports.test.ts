import { describe, expect, it } from "vitest";
import { applyChanges, type Change, withPredecessors } from "../build/airport-changes.ts";
import { checkIcao, checkSecondList, type ListedCode } from "../build/airport-codes.ts";
import { listCorrections } from "../build/airport-corrections.ts";
import { checkLosses, checkNames } from "../build/airport-losses.ts";
import type { AirportRow } from "../build/airports.ts";
import { checkDue } from "../build/facts.ts";
import { checkFalls } from "../build/falls.ts";
import { Findings } from "../build/findings.ts";
import type { Counts } from "../build/manifest.ts";
import { readAirfield } from "../build/our-airports.ts";

function anAirport(changes: Partial<AirportRow> = {}): AirportRow {
  return {
    id: 1,
    ident: "LSZH",
    type: "large_airport",
    name: "Zurich Airport",
    lat: 47.458,
    lon: 8.548,
    elevationFt: 1416,
    continent: "EU",
    country: "CH",
    region: "CH-ZH",
    municipality: "Zurich",
    scheduledService: "yes",
    icao: "LSZH",
    gps: "LSZH",
    iata: "ZRH",
    local: "",
    ...changes,
  };
}

function aChange(changes: Partial<Change> = {}): Change {
  return {
    iata: "ZRH",
    change: "renamed",
    id: "1",
    type: "",
    name: "Airport of the Lake",
    lat: "",
    lon: "",
    country: "",
    region: "",
    municipality: "",
    scheduled: "",
    icao: "",
    predecessor: "",
    predecessor_is: "",
    date: "2026-08",
    source: "a witness",
    reason: "a test",
    ...changes,
  };
}

const GENEVA = anAirport({ id: 2, name: "Geneva Airport", iata: "GVA", region: "CH-GE" });

describe("applyChanges", () => {
  const apply = (...changes: Change[]) => applyChanges([anAirport(), GENEVA], changes);

  it("takes what a row says and leaves the rest", () => {
    expect(apply(aChange())).toEqual([anAirport({ name: "Airport of the Lake" }), GENEVA]);
  });

  it("gives an airport another code", () => {
    const [zurich] = apply(aChange({ change: "recoded", iata: "ZZZ", name: "" }));
    expect(zurich).toEqual(anAirport({ iata: "ZZZ" }));
  });

  it("adds an airport under an id of ours, in a region that is known", () => {
    const id = "1000000001";
    const row = { id, iata: "NEW", change: "opened", type: "small_airport", region: "CH-GE" };
    const [, , added] = apply(aChange({ ...row, lat: "46.2", lon: "6.1", scheduled: "yes" }));
    expect(added).toMatchObject({ iata: "NEW", country: "CH", lat: 46.2, scheduledService: "yes" });
  });

  it.each<[Partial<Change>, string]>([
    [{ id: "9" }, "OurAirports has no airport 9"],
    [
      { change: "vanished" },
      "change must be one of opened, recoded, renamed, moved, unscheduled, closed",
    ],
    [{ iata: "zrh" }, "iata must be three capital letters"],
    [{ source: "" }, "it needs a source"],
    [{ date: "lately" }, "a date such as 2026-02-10"],
    [{ name: "" }, "it needs the new name"],
    [{ change: "moved", name: "" }, "it needs one of lat, lon, country, region, municipality"],
    [{ iata: "GVA" }, 'airport 1 has the code "ZRH"'],
    [{ region: "CH-XX" }, "OurAirports has no region CH-XX"],
    [{ country: "FR" }, "region CH-ZH is not in FR"],
    [{ scheduled: "maybe" }, "scheduled must be yes, no or empty"],
    [{ lat: "95" }, "it has no position"],
    [{ change: "recoded", iata: "GVA" }, "GVA is the code of 1, 2"],
  ])("refuses a row with %j and says why", (changes, problem) => {
    expect(() => apply(aChange(changes))).toThrow(`airports.csv: ${aChange(changes).iata}`);
    expect(() => apply(aChange(changes))).toThrow(problem);
  });
});

describe("withPredecessors", () => {
  const rows = [anAirport(), anAirport({ id: 3, iata: "", scheduledService: "no" })];
  const opened = { change: "opened", id: "3", scheduled: "yes" };
  const apply = (changes: Partial<Change>) =>
    applyChanges(rows, withPredecessors(rows, [aChange({ ...opened, ...changes })]));

  it("closes an airport in whose place another opens, even under its code", () => {
    const [old, successor] = apply({ predecessor: "ZRH", predecessor_is: "closed" });
    expect(old).toEqual(anAirport({ type: "closed" }));
    expect(successor).toMatchObject({ id: 3, iata: "ZRH", scheduledService: "yes" });
  });

  it("takes its scheduled service from an airport that stays open without airlines", () => {
    const moved = { iata: "NEW", predecessor: "ZRH", predecessor_is: "unscheduled" };
    const [old, successor] = apply(moved);
    expect(old).toEqual(anAirport({ scheduledService: "no" }));
    expect(successor).toMatchObject({ id: 3, iata: "NEW", scheduledService: "yes" });
  });

  it("leaves all others as they are if an airport opens in nobody's place", () => {
    expect(apply({ iata: "NEW", predecessor: "-" })[0]).toEqual(anAirport());
  });

  it.each([
    [{ predecessor: "" }, "NEW opened: it needs its predecessor, or - if it has none"],
    [{ predecessor: "XXX", predecessor_is: "closed" }, "OurAirports has no predecessor XXX"],
    [{ predecessor: "ZRH" }, "predecessor_is must be closed or unscheduled"],
  ])("refuses an airport that opens with %j and says why", (changes, problem) => {
    expect(() => apply({ iata: "NEW", ...changes })).toThrow(problem);
  });
});

describe("readAirfield", () => {
  it("reads the codes that the package has one column too far to the left", () => {
    const lusaka = {
      id: "2884",
      identifier: "FLKK",
      type: "large_airport",
      name: "Kenneth Kaunda International Airport",
      latitude: -15.3308,
      longitude: 28.4526,
      elevation: 3779,
      continent: "AF",
      country: "ZM",
      region: "ZM-09",
      municipality: "Lusaka",
      scheduledService: true,
      iataCode: "LUN",
    };
    const codes = { icao: "", gps: "FLKK", iata: "LUN", local: "" };
    expect(readAirfield({ ...lusaka, gpsCode: "", localCode: "FLKK" })).toMatchObject(codes);
    const both = readAirfield({ ...lusaka, gpsCode: "FLKK", localCode: "FLZZ" });
    expect(both).toMatchObject({ icao: "FLKK", gps: "FLZZ", local: "" });
  });
});

describe("checkLosses", () => {
  const losses = (airports: AirportRow[], changes: Change[] = [], day = [anAirport(), GENEVA]) =>
    checkLosses({ source: "a package", rows: day }, airports, changes);

  it("finds nothing if all is as it was", () => {
    expect(losses([anAirport(), GENEVA])).toEqual([]);
  });

  it("takes a row with another id at the same place for the same airport", () => {
    expect(losses([anAirport({ id: 7, lat: 47.5 }), GENEVA])).toEqual([]);
  });

  it.each([
    ["that is gone", [GENEVA], "is gone"],
    ["with another code", [anAirport({ iata: "ZZZ" }), GENEVA], "has the code ZZZ now"],
    ["whose code another has", [anAirport({ id: 7, lat: 0 }), GENEVA], "its code is that of"],
  ])("names an airport %s", (_, airports, fate) => {
    expect(losses(airports)).toEqual([expect.stringContaining(`ZRH (Zurich Airport, id 1)`)]);
    expect(losses(airports)).toEqual([expect.stringContaining(fate)]);
  });

  it("accepts a loss for which a curated row gives the reason", () => {
    expect(losses([GENEVA], [aChange({ change: "closed" })])).toEqual([]);
  });

  it("does not look for airports that were closed or had no scheduled service", () => {
    const closed = anAirport({ type: "closed" });
    const unscheduled = anAirport({ scheduledService: "no" });
    expect(losses([], [], [closed, unscheduled])).toEqual([]);
  });
});

describe("checkNames", () => {
  const check = (before: string, name: string, changes: Change[] = []) =>
    checkNames(
      { source: "a package", rows: [anAirport({ name: before })] },
      [anAirport({ name })],
      changes,
    );

  it.each([
    ["Zurich Airport", "Flughafen Zürich"],
    ["La Guardia Airport", "LaGuardia Airport"],
    ["Kloten Airport", "Zurich International Airport"],
    ["Lalibella Airport", "Lalibela Airport"],
  ])("lets %s become %s", (before, name) => {
    expect(check(before, name)).toEqual([]);
  });

  it.each([
    ["Zurich Airport", '"Ghost" International Airport'],
    ["General Heriberto Jara Airport", "General Idiot Airport"],
    ["San Jose Airport", "San Nobody Airport"],
    ["King Shaka International Airport", "King Kong International Airport"],
    ["Amsterdam Airport", "A"],
  ])("stops %s from becoming %s", (before, name) => {
    expect(check(before, name)).toEqual([expect.stringContaining(`ZRH: "${name}"`)]);
  });

  it("accepts a name for which a curated row has that name, and no other", () => {
    expect(check("Kloten", "Airport of the Lake", [aChange()])).toEqual([]);
    expect(check("Kloten", "Nowhere", [aChange()])).toHaveLength(1);
  });
});

describe("checkIcao", () => {
  const check = (airport: Partial<AirportRow>, changes: Change[] = [], before = anAirport()) =>
    checkIcao({ source: "a day", rows: [before] }, [anAirport(airport)], changes);

  it.each<[string, Partial<AirportRow>, AirportRow?]>([
    ["an airport that is as it was", {}],
    ["one that has its code in the other column", { icao: "", gps: "LSZH" }],
    ["one that had no code before", {}, anAirport({ icao: "", gps: "" })],
    ["one whose other column has a local code", { gps: "LS-12" }],
    ["one that was closed", { icao: "LSZZ", gps: "" }, anAirport({ type: "closed" })],
  ])("lets pass %s", (_, airport, before) => {
    expect(check(airport, [], before)).toEqual([]);
  });

  it.each<[string, Partial<AirportRow>, string]>([
    ["whose columns differ", { gps: "LSXX" }, "its GPS code is LSXX"],
    ["with another code", { icao: "LSYY", gps: "LSYY" }, "a day has LSZH"],
    ["without its code", { icao: "", gps: "" }, "a day has LSZH"],
  ])("stops one %s, unless a curated row has its code", (_, airport, why) => {
    expect(check(airport)).toEqual([expect.stringContaining(why)]);
    expect(check(airport, [aChange({ icao: "LSXX" })])).toHaveLength(1);
    const code = anAirport(airport).icao;
    if (code !== "") expect(check(airport, [aChange({ icao: code })])).toEqual([]);
  });
});

describe("checkSecondList", () => {
  const here = { lat: 47.459, lon: 8.549 };
  const check = (listed: ListedCode[], others: [string, string][] = [], airport = anAirport()) =>
    checkSecondList(listed, [airport], new Map(others));

  it("stops a code that another list has where an airport with scheduled service is", () => {
    expect(check([{ iata: "ZZR", ...here }])).toEqual([
      expect.stringContaining("ZRH is ZZR in OpenTravelData"),
    ]);
  });

  it("lets pass the airport's own code, and codes elsewhere or of airports without service", () => {
    expect(check([{ iata: "ZRH", ...here }])).toEqual([]);
    expect(check([{ iata: "ZZR", lat: 48, lon: 9 }])).toEqual([]);
    const unscheduled = anAirport({ scheduledService: "no" });
    expect(check([{ iata: "ZZR", ...here }], [], unscheduled)).toEqual([]);
  });

  it("lets pass a code that a curated row explains, and names a row that explains nothing", () => {
    expect(check([{ iata: "ZZR", ...here }], [["ZZR", "ZRH"]])).toEqual([]);
    expect(check([{ iata: "ZZR", ...here }], [["ZZR", "GVA"]])).toHaveLength(1);
    expect(check([], [["ZZR", "ZRH"]])).toEqual([expect.stringContaining("has no such ZZR")]);
  });
});

describe("checkDue", () => {
  it.each([
    ["2026-08-02", "2026-08-01", []],
    ["2026-08-01", "2026-08-01", ["ZRH"]],
    ["2026-07-31", "2026-08-01", ["ZRH"]],
    ["some day", "2026-08-01", ["ZRH"]],
  ])("asks for a fact of %s on %s: %j", (again, today, due) => {
    const findings = new Findings();
    const rows = [
      { iata: "ZRH", again },
      { iata: "GVA", again: "2027-01-01" },
    ];
    checkDue("facts/airports.csv", rows, findings, today);
    expect(findings.problems).toEqual(
      due.map((iata) =>
        expect.stringMatching(`facts/airports.csv: to be looked at again: ${iata}:`),
      ),
    );
  });
});

describe("checkFalls", () => {
  const counts = (airports: number, icao = 1): Counts => ({
    airports,
    scheduled: 1,
    icao,
    cities: 1,
    countries: 1,
    regions: 1,
    macro_regions: 1,
    subdivisions: 0,
    travel_regions: 0,
    spare_regions: 0,
    cities_by_source: {},
    cities_by_origin: {},
  });

  it("names a list that is shorter than before, unless that is accepted", () => {
    expect(checkFalls(counts(2), counts(1), [])).toEqual([
      expect.stringContaining("airports fall from 2 to 1"),
    ]);
    expect(checkFalls(counts(2), counts(1), ["airports"])).toEqual([]);
  });

  it("names airports that lost their ICAO codes", () => {
    expect(checkFalls(counts(2, 2), counts(2, 1), [])).toEqual([
      expect.stringContaining("icao fall from 2 to 1"),
    ]);
  });

  it("accepts a first snapshot, which it cannot compare with anything", () => {
    expect(checkFalls(undefined, counts(0), [])).toEqual([]);
    expect(checkFalls(counts(1), counts(2), [])).toEqual([]);
  });
});

describe("listCorrections", () => {
  it("gives each airport that is changed or closed as it was, and an added one by id alone", () => {
    const newest = [anAirport(), GENEVA, anAirport({ id: 3, iata: "" })];
    const changed = anAirport({ name: "Airport of the Lake" });
    const added = anAirport({ id: 3, iata: "NEW" });
    const changes = ["3", "2", "1"].map((id) => aChange({ id }));
    expect(listCorrections(newest, [changed, added], changes)).toEqual([
      { id: 1, before: anAirport() },
      { id: 2, before: GENEVA },
      { id: 3, before: undefined },
    ]);
  });

  it("omits rows that repeat what upstream already said", () => {
    const closed = anAirport({ id: 2, type: "closed" });
    const changes = ["1", "2"].map((id) => aChange({ id }));
    expect(listCorrections([anAirport(), closed], [anAirport()], changes)).toEqual([]);
  });
});
