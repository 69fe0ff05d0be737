import { beforeEach, describe, expect, it } from "vitest";
import type { SourceAirport } from "../../../src/sources/our-airports.ts";
import { BASEL, BERN, FIELD, UpstreamLife, withBasel } from "../../builders/upstream-life.ts";

const ALL = [BASEL, BERN, FIELD];

let life: UpstreamLife;

describe("steps of which none surprises anybody", () => {
  const steps: [rule: string, steps: Partial<SourceAirport>[]][] = [
    ["moves", [0.17, 0.34].map((north) => ({ lat: BASEL.lat + north }))],
    ["changes_name", ["EuroAirport Ghost", "Spook Ghost"].map((name) => ({ name }))],
    ["changes_name", [{ municipality: "Ghost" }, { municipality: "Ghost", name: "Ghost Airport" }]],
  ];
  beforeEach(() => {
    life = new UpstreamLife(ALL, { cityOf: () => "", regionOf: (code) => code });
  });

  it.each(steps)("are held where they add up: %s", (rule, [first = {}, second = {}]) => {
    life.nextDay(withBasel(first));
    expect(life.held()).toEqual([]);
    for (let day = 1; day <= 3; day++) {
      life.nextDay(withBasel(second));
      expect(life.airport("BSL")).toMatchObject(first);
      expect(life.held()).toMatchObject([{ rules: [rule], days_seen: day }]);
    }
    life.nextDay(withBasel(second));
    expect(life.airport("BSL")).toEqual({ ...BASEL, ...second, row: "1" });
  });

  it.each(steps)("are taken over once each has stood for three days: %s", (_, all) => {
    for (const step of all) {
      for (let day = 0; day <= 3; day++) life.nextDay(withBasel(step));
      expect(life.airport("BSL")).toEqual({ ...BASEL, ...step, row: "1" });
    }
    expect(life.held()).toEqual([]);
  });

  it("are held where nobody looked for days in between", () => {
    life.nextDay(withBasel({ lat: BASEL.lat + 0.17 }));
    life.nextDay(withBasel({ lat: BASEL.lat + 0.17 }), { hoursLate: 3 * 24 });
    life.nextDay(withBasel({ lat: BASEL.lat + 0.34 }), { hoursLate: 3 * 24 });
    expect(life.reasons()).toEqual(["BSL place: moves"]);
  });

  it("do not settle while upstream says something else", () => {
    for (const north of [0.17, 1, 2, 3, 0.34]) life.nextDay(withBasel({ lat: BASEL.lat + north }));
    expect(life.reasons()).toEqual(["BSL place: moves"]);
  });

  it("may be taken back at once", () => {
    life.nextDay([BASEL, BERN, { ...FIELD, name: "Ghost", scheduled: true }]);
    life.nextDay([BASEL, BERN, { ...FIELD, name: "Ghost Spook", scheduled: true }]);
    life.nextDay(ALL);
    expect(life.airport("XFD")).toEqual({ ...FIELD, row: "3" });
    expect(life.held()).toEqual([]);
  });

  it("are compared with what an operator has approved", () => {
    life.nextDay(withBasel({ lat: BASEL.lat + 0.17 }));
    const far = withBasel({ lat: BASEL.lat + 0.34 });
    life.nextDay(far);
    life.nextDay(far, { decisions: [life.decision("approved")] });
    life.nextDay(withBasel({ lat: BASEL.lat + 0.5 }));
    expect(life.airport("BSL")?.lat).toBe(BASEL.lat + 0.5);
  });
});
