import { beforeEach, describe, expect, it } from "vitest";
import type { SourceAirport } from "../../../src/sources/our-airports.ts";
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

describe("a change that surprises nobody", () => {
  it.each<[string, Partial<SourceAirport>]>([
    ["a longer name", { name: "Basel-Mulhouse-Freiburg EuroAirport" }],
    ["the name of its municipality", { name: "BSL Town International" }],
    ["a move of 19.8 km", { lat: BASEL.lat + 0.178 }],
    ["another ICAO code", { icao: "LFSB" }],
    ["a smaller size with scheduled service", { type: "medium_airport" }],
  ])("is taken over at once: %s", (_, changes) => {
    life.nextDay(withBasel(changes));
    expect(life.airport("BSL")).toMatchObject(changes);
    expect(life.held()).toEqual([]);
  });

  it("is any change of an airport that few travellers know", () => {
    life.nextDay([BASEL, BERN, { ...FIELD, name: "Ghost", country: "DE", lat: 0 }]);
    expect(life.airport("XFD")).toEqual({
      ...FIELD,
      name: "Ghost",
      country: "DE",
      lat: 0,
      row: "3",
    });
    life.nextDay([BASEL, BERN]);
    expect(life.airport("XFD")).toBeUndefined();
  });

  it("is a subdivision where upstream had none", () => {
    life = new UpstreamLife([{ ...BASEL, region: "FR-U-A" }]);
    life.nextDay([BASEL]);
    expect(life.airport("BSL")?.region).toBe("FR-GES");
  });

  it("is a small airport that opens, but not one whose name says that it is not in use", () => {
    const [open, closed] = [4, 5].map((number) =>
      airportNumber(
        number,
        `XX${number}`.replace(/\d/, (d) => "ABCDEF"[Number(d)] ?? ""),
        {
          type: "small_airport",
          scheduled: false,
        },
      ),
    );
    if (open === undefined || closed === undefined) throw new Error("two airports");
    life.nextDay([...ALL, open, closed], { unopened: new Set([closed.id]) });
    expect(life.airport(open.iata)).toMatchObject({ id: "4" });
    expect(life.airport(closed.iata)).toBeUndefined();
    expect(life.held()).toEqual([]);
  });
});

describe("a change that a traveller would notice", () => {
  const surprises: [rule: string, part: string, changes: Partial<SourceAirport>][] = [
    ["changes_name", "name", { name: "Ghost International Airport" }],
    ["changes_code", "code", { iata: "MLH" }],
    ["changes_country", "place", { country: "DE" }],
    ["moves", "place", { lat: BASEL.lat + 0.182 }],
    ["loses_city", "place", { municipality: "Nowhere" }],
    ["loses_region", "place", { region: "CH-BS" }],
    ["loses_region", "place", { region: "FR-U-A" }],
    ["demoted", "service", { type: "small_airport", scheduled: false }],
    ["demoted", "service", { scheduled: false }],
  ];

  it.each(surprises)("is held: %s", (rule, part, changes) => {
    life.nextDay(withBasel(changes));
    expect(life.airport("BSL")).toEqual({ ...BASEL, row: "1" });
    expect(life.held()).toMatchObject([
      { state: "waiting", airport: "1", part, rules: [rule], days_seen: 1, run_id: "run-0" },
    ]);
    const [held] = life.held();
    expect(held?.before).not.toEqual(held?.after);
    expect(held?.after).toMatchObject(changes);
  });

  it.each(surprises)("is taken over on the fourth day: %s", (_, _part, changes) => {
    for (let day = 1; day <= 3; day++) {
      life.nextDay(withBasel(changes));
      expect(life.held()).toMatchObject([{ days_seen: day }]);
    }
    life.nextDay(withBasel(changes));
    expect(life.ledger.accepted.airports.find(({ id }) => id === "1")).toMatchObject(changes);
    expect(life.held()).toEqual([]);
  });

  it("leaves the other parts of the airport to upstream", () => {
    life.nextDay(withBasel({ name: "Ghost", lat: BASEL.lat + 0.01 }));
    expect(life.airport("BSL")).toMatchObject({ name: BASEL.name, lat: BASEL.lat + 0.01 });
  });

  it("is forgotten when upstream takes it back, and then waits anew", () => {
    const ghost = withBasel({ name: "Ghost" });
    for (const day of [ghost, ghost, ghost, ALL, ghost, ghost, ghost]) life.nextDay(day);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
    expect(life.held()).toMatchObject([{ days_seen: 3, run_id: "run-4" }]);
  });

  it("waits anew when upstream says something else again", () => {
    for (const name of ["Ghost", "Ghost", "Ghost", "Spook", "Spook", "Spook"])
      life.nextDay(withBasel({ name }));
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
    life.nextDay(withBasel({ name: "Spook" }));
    expect(life.airport("BSL")?.name).toBe("Spook");
  });

  it("is taken over by a run on the fourth day that is earlier than the late first one", () => {
    const ghost = withBasel({ name: "Ghost" });
    life.nextDay(ghost, { hoursLate: 0.9 });
    for (let day = 2; day <= 4; day++) life.nextDay(ghost);
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("is not taken over over an hour before three days are over", () => {
    const ghost = withBasel({ name: "Ghost" });
    for (const hoursLate of [0, 0, 0, -2]) life.nextDay(ghost, { hoursLate });
    expect(life.held()).toMatchObject([{ days_seen: 4 }]);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
  });

  it("waits anew after a run whose clock was ahead", () => {
    const ghost = withBasel({ name: "Ghost" });
    life.nextDay(ghost, { hoursLate: 240 });
    for (let day = 2; day <= 5; day++) life.nextDay(ghost);
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("waits anew after days on which nobody looked", () => {
    const ghost = withBasel({ name: "Ghost" });
    for (let day = 1; day <= 3; day++) life.nextDay(ghost);
    life.nextDay(ghost, { hoursLate: 2 * 24 });
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
    expect(life.held()).toMatchObject([{ days_seen: 1 }]);
  });

  it("goes on waiting through small edits of the position or of a new airport", () => {
    const opened = airportNumber(4, "ZRH");
    for (let day = 0; day <= 3; day++) {
      const nudge = day * 0.001;
      const basel = { ...BASEL, lat: BASEL.lat + 0.3 + nudge };
      life.nextDay([basel, BERN, FIELD, { ...opened, lat: opened.lat + nudge }]);
    }
    expect(life.airport("BSL")?.lat).toBeCloseTo(BASEL.lat + 0.303, 5);
    expect(life.airport("ZRH")?.lat).toBeCloseTo(opened.lat + 0.003, 5);
  });

  it("is taken over at once without a time to hold it", () => {
    life.limits = { ...life.limits, holdMs: 0 };
    life.nextDay([{ ...BASEL, name: "Ghost" }]);
    expect(life.ledger.accepted.airports).toEqual([{ ...BASEL, name: "Ghost", row: "1" }]);
    expect(life.held()).toEqual([]);
  });
});

describe("an airport that is no longer listed", () => {
  it.each([
    ["vanishes", undefined],
    ["closes", "closed"],
    ["loses_code", "without_code"],
  ] as const)("is held: %s", (rule, fate) => {
    const fates = new Map(fate === undefined ? [] : [["1", fate] as const]);
    life.nextDay([BERN, FIELD], { fates });
    expect(life.reasons()).toEqual([`BSL listing: ${rule}`]);
    for (let day = 2; day <= 4; day++) {
      expect(life.airport("BSL")).toBeDefined();
      life.nextDay([BERN, FIELD], { fates });
    }
    expect(life.airport("BSL")).toBeUndefined();
    expect(life.ledger.accepted.gone).toMatchObject([{ id: "1", iata: "BSL" }]);
  });

  it("is another change when its row is closed than when it is gone", () => {
    life.nextDay([BERN, FIELD]);
    life.nextDay([BERN, FIELD], { decisions: [life.decision("rejected")] });
    const closed = { fates: new Map([["1", "closed"] as const]) };
    for (let day = 1; day <= 4; day++) life.nextDay([BERN, FIELD], closed);
    expect(life.airport("BSL")).toBeUndefined();
  });

  it("has its id again when it comes back under another row", () => {
    for (let day = 1; day <= 4; day++) life.nextDay([BERN, FIELD]);
    const back = { ...BASEL, id: "900", lat: BASEL.lat + 0.05 };
    for (let day = 1; day <= 4; day++) life.nextDay([back, BERN, FIELD]);
    expect(life.airport("BSL")).toMatchObject({ id: "1", row: "900" });
    expect(life.ledger.accepted.gone).toEqual([]);
  });
});

describe("a new airport", () => {
  const ZURICH = airportNumber(4, "ZRH");

  it("is held where travellers would use it", () => {
    life.nextDay([...ALL, ZURICH]);
    expect(life.reasons()).toEqual(["ZRH listing: appears"]);
    for (let day = 2; day <= 4; day++) life.nextDay([...ALL, ZURICH]);
    expect(life.airport("ZRH")).toEqual({ ...ZURICH, row: "4" });
  });

  it("waits for the code of another one, whatever somebody approves", () => {
    const other = { ...ZURICH, iata: "BSL" };
    const upstream = [{ ...BASEL, iata: "MLH" }, BERN, FIELD, other];
    life.nextDay(upstream);
    expect(life.reasons()).toEqual(["BSL code: changes_code", "BSL listing: appears, takes_code"]);
    life.nextDay(upstream, { decisions: [life.decision("approved", 1)] });
    expect(life.airport("BSL")?.id).toBe("1");
    expect(life.held()).toMatchObject([{ state: "waiting" }, { state: "approved" }]);
    life.nextDay(upstream, { decisions: [life.decision("approved")] });
    expect(life.airport("BSL")?.id).toBe("4");
    expect(life.airport("MLH")?.id).toBe("1");
    expect(life.held()).toEqual([]);
  });

  it("gets a number of our own where its row number is another airport's", () => {
    const taken = { ...ZURICH, id: "1", type: "small_airport", scheduled: false } as const;
    life.nextDay([{ ...BASEL, id: "77" }, BERN, FIELD, taken]);
    expect(life.airport("BSL")).toMatchObject({ id: "1", row: "77" });
    expect(life.airport("ZRH")).toMatchObject({ id: "2000000000", row: "1" });
    life.nextDay([{ ...BASEL, id: "77" }, BERN, FIELD, taken]);
    expect(life.airport("ZRH")).toMatchObject({ id: "2000000000", row: "1" });
  });
});

describe("a decision", () => {
  const ghost = withBasel({ name: "Ghost" });

  it("takes over what is approved with the next run", () => {
    life.nextDay(ghost);
    life.nextDay(ghost, { decisions: [life.decision("approved")] });
    expect(life.airport("BSL")?.name).toBe("Ghost");
    expect(life.held()).toEqual([]);
  });

  it("keeps out what is rejected, until upstream says something else", () => {
    life.nextDay(ghost);
    life.nextDay(ghost, { decisions: [life.decision("rejected")] });
    for (let day = 0; day < 9; day++) life.nextDay(ghost);
    expect(life.held()).toMatchObject([
      { state: "rejected", decided_by: "ops", note: "seen on site" },
    ]);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
    life.nextDay(withBasel({ name: "Spook" }));
    expect(life.held().find(({ after }) => after?.["name"] === "Spook")).toMatchObject({
      state: "waiting",
      decided_by: null,
    });
    life.nextDay(ghost);
    expect(life.held()).toMatchObject([{ state: "rejected" }]);
  });

  it("may be another one later", () => {
    life.nextDay(ghost);
    life.nextDay(ghost, { decisions: [life.decision("rejected"), life.decision("approved")] });
    expect(life.airport("BSL")?.name).toBe("Ghost");
  });

  it("about what upstream no longer says has no effect", () => {
    life.nextDay(ghost);
    const decision = life.decision("approved");
    life.nextDay(withBasel({ name: "Spook" }), { decisions: [decision] });
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
  });

  it("stays rejected while upstream does not list the airport", () => {
    life.nextDay(ghost);
    life.nextDay(ghost, { decisions: [life.decision("rejected")] });
    life.nextDay([BERN, FIELD]);
    life.nextDay(ghost);
    expect(life.held()).toMatchObject([{ state: "rejected" }]);
  });
});
