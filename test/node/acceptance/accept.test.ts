import { beforeEach, describe, expect, it } from "vitest";
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
const GHOST = withBasel({ name: "Ghost" });
/** A degree of latitude has 111.2 km. */
const north = (km: number) => ({ lat: BASEL.lat + km / 111.2 });

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
});

const EDITS: [what: string, changes: Partial<SourceAirport>][] = [
  ["name", { name: "EuroAirport Basel Mulhouse" }],
  ["IATA code", { iata: "MLH" }],
  ["ICAO code", { icao: "SEXY" }],
  ["municipality", { municipality: "Mulhouse" }],
  ["country", { country: "DE" }],
  ["subdivision", { region: "FR-U-A" }],
  ["position", north(2.1)],
  ["size", { type: "seaplane_base" }],
  ["scheduled service", { scheduled: !BASEL.scheduled }],
];

describe("an edit of an airport", () => {
  it.each(EDITS)("waits for three days and is served on the fourth: its %s", (_, changes) => {
    life.nextDays(3, withBasel(changes));
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toMatchObject([
      { state: "waiting", airport: "1", after: changes, run_id: "run-0" },
    ]);
    life.nextDay(withBasel(changes));
    expect(life.ledger.accepted.airports).toContainEqual({ ...BASEL, ...changes, row: "1" });
    expect(life.held()).toEqual([]);
  });

  it("waits with all other edits of that airport, and without those of others", () => {
    life.nextDay(withBasel({ name: "Ghost", icao: "LFSB" }));
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toMatchObject([
      {
        iata: "BSL",
        before: { name: BASEL.name, icao: "" },
        after: { name: "Ghost", icao: "LFSB" },
      },
    ]);
  });

  it("restarts the three days of the edits that wait, so none is served before its fourth day", () => {
    life.nextDays(2, withBasel({ icao: "LFSB" }));
    const vandalised = withBasel({ icao: "LFSB", name: "Ghost" });
    life.nextDays(3, vandalised);
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toMatchObject([
      { since: "2026-11-01T04:17:00.000Z", wanted_since: "2026-11-03T04:17:00.000Z" },
    ]);
    life.nextDay(vandalised);
    expect(life.airport("BSL")).toMatchObject({ icao: "LFSB", name: "Ghost" });
  });

  it("becomes disputed when other edits have kept it waiting for six days", () => {
    for (let day = 0; day < 6; day++) {
      life.nextDay(withBasel({ icao: `LFS${"AB"[day % 2]}` }));
      expect(life.reasons()).toEqual(["BSL: "]);
    }
    life.nextDay(withBasel({ icao: "LFSC" }));
    expect(life.reasons()).toEqual(["BSL: disputed"]);
  });

  it("reaches callers on the fourth day even if the first run was late", () => {
    life.nextDay(GHOST, { hoursLate: 0.9 });
    life.nextDays(3, GHOST);
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("stays held in a run over an hour before three days are over", () => {
    for (const hoursLate of [0, 0, 0, -2]) life.nextDay(GHOST, { hoursLate });
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
  });

  it("starts to wait again after a run whose clock was fast", () => {
    life.nextDay(GHOST, { hoursLate: 240 });
    life.nextDays(3, GHOST);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
    life.nextDay(GHOST);
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("reaches callers at once if the time to hold it is zero", () => {
    life.holdMs = 0;
    life.nextDay(GHOST.slice(0, 1));
    expect(life.ledger.accepted.airports).toEqual([{ ...BASEL, name: "Ghost", row: "1" }]);
    expect(life.held()).toEqual([]);
  });
});

describe("the due time of a held change", () => {
  const due = () => life.held().map(({ due_at }) => due_at);

  it("comes three days after upstream started to say so, and thirty days after a row went missing", () => {
    life.nextDay(GHOST);
    expect(due()).toEqual(["2026-11-04T04:17:00.000Z"]);
    life.nextDay([BASEL, BERN]);
    expect(due()).toEqual(["2026-12-02T04:17:00.000Z"]);
  });

  it("stays empty for an obscene or rejected change", () => {
    life.nextDay(withBasel({ name: "Shit" }));
    expect(due()).toEqual([null]);
    life.nextDay(GHOST);
    life.sameDay(GHOST, { decisions: [life.decision("rejected")] });
    expect(due()).toEqual([null]);
    life.nextDay(GHOST);
    expect(due()).toEqual([null]);
  });
});

describe("a correction of a position by up to 2 km", () => {
  it("reaches callers at once, and so does its undoing", () => {
    life.nextDay(withBasel(north(1.9)));
    expect(life.airport("BSL")?.lat).toBe(north(1.9).lat);
    life.nextDay(ALL);
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toEqual([]);
  });

  it("waits if it and earlier corrections add up to more than 2 km", () => {
    life.nextDays(9, withBasel(north(1.9)));
    life.nextDays(3, withBasel(north(2.1)));
    expect(life.airport("BSL")?.lat).toBe(north(1.9).lat);
    life.nextDay(withBasel(north(2.1)));
    life.nextDay(withBasel(north(4)));
    expect(life.airport("BSL")?.lat).toBe(north(4).lat);
    expect(life.held()).toEqual([]);
  });
});

describe("a row number of another record", () => {
  const takenOver = { ...BASEL, id: "900", name: "Ghost" };

  it("comes into force together with that record", () => {
    life.nextDays(3, [takenOver, BERN, FIELD]);
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    life.nextDay([takenOver, BERN, FIELD]);
    expect(life.airport("BSL")).toEqual({ ...takenOver, id: "1", row: "900" });
  });

  it("comes into force at once if the former row belongs to another airport, so that rows stay unique", () => {
    const near = airportNumber(4, "MLH", { lat: BASEL.lat, lon: BASEL.lon });
    life = new UpstreamLife([BASEL, near]);
    life.nextDay([
      { ...BASEL, id: "4", name: "Ghost" },
      { ...near, id: "1" },
    ]);
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "4" });
    expect(life.airport("MLH")).toEqual({ ...near, row: "1" });
  });
});

describe("an airport that upstream no longer lists", () => {
  it.each([
    ["thirty", "has no row", 30, "leaves", undefined],
    ["three", "is closed", 3, "leaves", "closed"],
    ["three", "has no code", 3, "leaves", "without_code"],
  ] as const)("stays in the catalog for %s more days if it %s", (_, _what, days, rule, reason) => {
    const delistedRows = new Map(reason === undefined ? [] : [["1", reason] as const]);
    life.nextDays(days, [BERN, FIELD], { delistedRows });
    expect(life.reasons()).toEqual([`BSL: ${rule}`]);
    expect(life.airport("BSL")).toBeDefined();
    life.nextDay([BERN, FIELD], { delistedRows });
    expect(life.airport("BSL")).toBeUndefined();
    expect(life.ledger.accepted.gone).toMatchObject([{ id: "1", iata: "BSL" }]);
  });

  it("stays for as long as its row is there but unusable", () => {
    life.nextDays(9, [BERN, FIELD], { delistedRows: new Map([["1", "unusable"]]) });
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toEqual([]);
  });

  it("starts to wait again if its row, which was gone, is closed", () => {
    life.nextDay([BERN, FIELD]);
    life.nextDay([BERN, FIELD], { decisions: [life.decision("rejected")] });
    life.nextDays(4, [BERN, FIELD], { delistedRows: new Map([["1", "closed"]]) });
    expect(life.airport("BSL")).toBeUndefined();
  });

  it("gets its id back when it returns under another row", () => {
    life.nextDays(31, [BERN, FIELD]);
    const back = { ...BASEL, id: "900", lat: BASEL.lat + 0.05 };
    life.nextDays(4, [back, BERN, FIELD]);
    expect(life.airport("BSL")).toMatchObject({ id: "1", row: "900" });
    expect(life.ledger.accepted.gone).toEqual([]);
  });
});

describe("a new airport", () => {
  const ZURICH = airportNumber(4, "ZRH");

  it.each([
    ["many", ZURICH],
    ["few", { ...FIELD, id: "4", iata: "ZRH", lat: 1 }],
  ])("appears on its fourth day, whether %s travellers use it", (_, opened) => {
    life.nextDays(3, [...ALL, opened]);
    expect(life.airport("ZRH")).toBeUndefined();
    life.nextDay([...ALL, opened]);
    expect(life.airport("ZRH")).toEqual({ ...opened, row: "4" });
  });

  it("stays out of the catalog while its name says that it is not in use", () => {
    life.nextDays(5, [...ALL, ZURICH], { unopened: new Set(["4"]) });
    expect(life.airport("ZRH")).toBeUndefined();
    expect(life.held()).toEqual([]);
  });

  it("waits for the code of another one, even with an operator's approval", () => {
    const other = { ...ZURICH, iata: "BSL" };
    const upstream = [{ ...BASEL, iata: "MLH" }, BERN, FIELD, other];
    life.nextDay(upstream);
    expect(life.reasons()).toEqual(["BSL: changes_code", "BSL: changes_code, appears"]);
    life.nextDay(upstream, { decisions: [life.decision("approved", 1)] });
    expect(life.airport("BSL")?.id).toBe("1");
    expect(life.held()).toMatchObject([{ state: "waiting" }, { state: "approved" }]);
    life.nextDay(upstream, { decisions: [life.decision("approved")] });
    expect(life.airport("BSL")?.id).toBe("4");
    expect(life.airport("MLH")?.id).toBe("1");
    expect(life.held()).toEqual([]);
  });
});

describe("a decision", () => {
  it("lives on in the held change if the list of decisions is lost", () => {
    life.nextDay(GHOST);
    life.nextDay(GHOST, { decisions: [life.decision("rejected")] });
    const restored = new UpstreamLife([]);
    restored.ledger = life.ledger;
    restored.skipDays(9);
    restored.nextDays(5, GHOST);
    expect(restored.held()).toMatchObject([{ state: "rejected", decided_by: "ops" }]);
  });

  it("gives way to a later decision about the same change", () => {
    life.nextDay(GHOST);
    life.nextDay(GHOST, { decisions: [life.decision("rejected"), life.decision("approved")] });
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("stays with its change through small corrections of the position", () => {
    life.nextDay(GHOST);
    const decisions = [life.decision("approved")];
    life.nextDay(withBasel({ ...north(1), name: "Ghost" }), { decisions });
    expect(life.airport("BSL")).toMatchObject({ ...north(1), name: "Ghost" });
  });
});
