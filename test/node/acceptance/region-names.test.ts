import { beforeEach, describe, expect, it } from "vitest";
import { BASEL, UpstreamLife } from "../../builders/upstream-life.ts";

const ALL = [BASEL];
/** What upstream calls a subdivision that the snapshot has no region for. */
const named = (name: string) => ({ regions: new Map([["MA-11", name]]) });

let life: UpstreamLife;

beforeEach(() => {
  life = new UpstreamLife(ALL);
  life.regionNames = new Map([["MA-11", "Laâyoune"]]);
});

describe("a name that upstream gives a subdivision", () => {
  it("waits for three days, is visible to operators meanwhile, and appears on the fourth day", () => {
    life.nextDays(3, ALL, named("Ghost"));
    expect(life.ledger.accepted.regions).toEqual({});
    expect(life.held()).toMatchObject([
      {
        id: expect.stringMatching(/^MA-11-[0-9a-f]{16}$/),
        state: "waiting",
        airport: null,
        iata: null,
        name: "Laâyoune",
        before: { code: "MA-11", name: "Laâyoune" },
        after: { code: "MA-11", name: "Ghost" },
        since: "2026-11-01T04:17:00.000Z",
      },
    ]);
    life.nextDay(ALL, named("Ghost"));
    expect(life.ledger.accepted.regions).toEqual({ "MA-11": "Ghost" });
    expect(life.held()).toEqual([]);
  });

  it("does not wait if the catalog has it already", () => {
    life.nextDay(ALL, named("Laâyoune"));
    expect(life.held()).toEqual([]);
    life.nextDays(4, ALL, named("Sahara"));
    life.nextDay(ALL, named("Sahara"));
    expect(life.held()).toEqual([]);
    life.nextDay(ALL, named("Laâyoune"));
    expect(life.held()).toMatchObject([{ before: { name: "Sahara" } }]);
  });

  it("waits if the subdivision had no name before", () => {
    life.regionNames = new Map();
    life.nextDays(3, ALL, named("Ghost"));
    expect(life.ledger.accepted.regions).toEqual({});
    expect(life.held()).toMatchObject([{ name: "Ghost", before: null }]);
    life.nextDay(ALL, named("Ghost"));
    expect(life.ledger.accepted.regions).toEqual({ "MA-11": "Ghost" });
  });

  it("starts to wait again when upstream says something else", () => {
    life.nextDays(3, ALL, named("Ghost"));
    life.nextDays(3, ALL, named("Spook"));
    expect(life.ledger.accepted.regions).toEqual({});
    expect(life.held()).toMatchObject([
      { since: "2026-11-01T04:17:00.000Z", wanted_since: "2026-11-04T04:17:00.000Z" },
    ]);
  });

  it("appears at once when an operator approves it, and never when one rejects it", () => {
    life.nextDay(ALL, named("Sahara"));
    life.sameDay(ALL, { ...named("Sahara"), decisions: [life.decision("approved")] });
    expect(life.ledger.accepted.regions).toEqual({ "MA-11": "Sahara" });
    life.nextDay(ALL, named("Ghost"));
    life.nextDays(9, ALL, { ...named("Ghost"), decisions: [life.decision("rejected")] });
    expect(life.ledger.accepted.regions).toEqual({ "MA-11": "Sahara" });
  });

  it("stays when upstream does not name the subdivision any more", () => {
    life.nextDays(4, ALL, named("Sahara"));
    life.nextDays(9, ALL);
    expect(life.ledger.accepted.regions).toEqual({ "MA-11": "Sahara" });
    expect(life.held()).toEqual([]);
  });
});

describe("an airport that moves into a subdivision without a name", () => {
  const moved = [{ ...BASEL, region: "CH-NEW", name: "Basel Airport" }];
  const withName = { regions: new Map([["CH-NEW", "New Canton"]]) };
  const regionOfBasel = () => life.airport(BASEL.iata)?.region;

  beforeEach(() => {
    life.regionNames = new Map([[BASEL.region, "Old Canton"]]);
  });

  it("stays where it was until the name has waited too, though the airports are of a newer day", () => {
    life.nextDay(moved);
    life.nextDays(3, moved, withName);
    expect(life.airport(BASEL.iata)).toMatchObject({ region: BASEL.region, name: BASEL.name });
    expect(life.held()).toHaveLength(2);
    life.nextDay(moved, withName);
    expect(life.airport(BASEL.iata)).toMatchObject({ region: "CH-NEW", name: "Basel Airport" });
    expect(life.held()).toEqual([]);
  });

  it("stays there for good if nobody names it, until an operator approves the move", () => {
    life.nextDays(30, moved);
    expect(regionOfBasel()).toBe(BASEL.region);
    life.sameDay(moved, { decisions: [life.decision("approved")] });
    expect(regionOfBasel()).toBe("CH-NEW");
  });

  it("moves on the fourth day if the name is there already, or into no subdivision on purpose", () => {
    life.regionNames = new Map([...life.regionNames, ["CH-NEW", "New Canton"]]);
    life.nextDays(4, moved);
    expect(regionOfBasel()).toBe("CH-NEW");
    life.nextDays(4, [{ ...BASEL, region: "CH-U-A" }]);
    expect(regionOfBasel()).toBe("CH-U-A");
  });

  it("moves on the fourth day if the one that it leaves has no name either", () => {
    life.regionNames = new Map();
    life.nextDays(4, moved);
    expect(regionOfBasel()).toBe("CH-NEW");
  });
});
