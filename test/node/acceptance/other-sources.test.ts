import { beforeEach, describe, expect, it } from "vitest";
import { trustUpstream } from "../../../src/acceptance/accept.ts";
import { EMBEDDED } from "../../../src/sources/upstream.ts";
import { airportNumber, UpstreamLife } from "../../builders/upstream-life.ts";

const BERN = airportNumber(1, "BRN");
const ZURICH = airportNumber(2, "ZRH");
const ALL = [BERN, ZURICH];
const GHOST = [{ ...BERN, name: "Ghost" }, ZURICH];
const DROPPED = { source: "dropped" };

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
});

describe("a held change of one source", () => {
  it("keeps waiting through a run of another source, which takes it over if it says the same itself", () => {
    life.nextDay(GHOST);
    life.nextDay(GHOST);
    life.sameDay(ALL, DROPPED);
    expect(life.held()).toMatchObject([{ source: "ourairports" }]);
    life.nextDay(GHOST);
    life.nextDay(GHOST);
    expect(life.airport("BRN")?.name).toBe("Ghost");
    expect(life.held()).toEqual([]);
  });

  it("ends when its own source takes it back, or has not been read for long", () => {
    life.nextDay(GHOST);
    life.sameDay(ALL, DROPPED);
    life.nextDay(ALL);
    expect(life.held()).toEqual([]);
    life.nextDay(GHOST);
    life.nextDay(ALL, DROPPED);
    expect(life.held()).toHaveLength(1);
    life.nextDay(ALL, DROPPED);
    expect(life.held()).toEqual([]);
  });

  it("belongs to the source that said it last", () => {
    life.nextDay(GHOST, DROPPED);
    life.sameDay(GHOST);
    life.nextDay(ALL);
    expect(life.held()).toEqual([]);
  });

  it("stays rejected although another source says the same and then takes it back", () => {
    life.nextDay(GHOST);
    life.nextDay(GHOST, { decisions: [life.decision("rejected")] });
    for (const day of [GHOST, ALL]) life.sameDay(day, DROPPED);
    expect(life.held()).toMatchObject([{ state: "rejected", source: "ourairports" }]);
  });

  it("stays approved until a run of its source follows, and rejected while that source says so", () => {
    life.nextDay([
      { ...BERN, name: "Ghost" },
      { ...ZURICH, name: "Spook" },
    ]);
    const decisions = [life.decision("approved", 0), life.decision("rejected", 1)];
    life.sameDay(ALL, { ...DROPPED, decisions });
    expect(life.held()).toMatchObject([{ state: "approved" }, { state: "rejected" }]);
    for (let day = 0; day < 9; day++) life.nextDay(ALL, DROPPED);
    life.nextDay([
      { ...BERN, name: "Ghost" },
      { ...ZURICH, name: "Spook" },
    ]);
    expect(life.airport("BRN")?.name).toBe("Ghost");
    expect(life.held()).toMatchObject([{ iata: "ZRH", state: "rejected" }]);
    life.nextDay([{ ...BERN, name: "Ghost" }, ZURICH]);
    expect(life.held()).toEqual([]);
  });
});

describe("a source that people have checked", () => {
  it("brings all its airports at once; the others leave the catalog with their ids and rows", () => {
    const opened = airportNumber(3, "GVA");
    life.nextDays(4, [{ ...BERN, id: "901" }, ZURICH, opened]);
    life.nextDay([{ ...BERN, id: "901", name: "Ghost" }, ZURICH, opened]);
    const { ledger, now, holdMs } = life;
    const corrections = [{ id: "1", written: { ...BERN, name: "Belp" }, ours: BERN }];
    const run = { ledger, corrections, decisions: [], holdMs, now, runId: "run", source: EMBEDDED };
    life.ledger = trustUpstream(run, { airports: ALL, regions: new Map([["CH-X", "Xanten"]]) });
    expect(life.ledger.accepted.airports).toMatchObject([{ id: "1", row: "901" }, { id: "2" }]);
    expect(life.ledger.accepted.gone).toMatchObject([{ id: "3", iata: "GVA" }]);
    expect(life.ledger.accepted.regions).toEqual({ "CH-X": "Xanten" });
    expect(life.held()).toMatchObject([
      { state: "waiting", after: { name: "Ghost" } },
      { state: "corrected", after: { name: "Belp" } },
    ]);
    life.nextDays(4, [BERN, ZURICH, { ...opened, id: "903" }]);
    expect(life.airport("GVA")).toMatchObject({ id: "3", row: "903" });
    expect(life.held()).toEqual([]);
  });
});
