import { beforeEach, describe, expect, it } from "vitest";
import type { Run } from "../../../src/schemas/run.ts";
import { anUpstream, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";
import { anAirportRow, csvOf } from "../../builders/source.ts";

const PUBLISHED = 60;
let world: CoordinatorWorld;

beforeEach(async () => {
  world = new CoordinatorWorld();
  world.setAirports(PUBLISHED);
  await world.runToEnd();
});

const guards = (run: Run) =>
  run.guards.map(({ guard, list, before, after }) => [guard, list, before, after]);

const blobWrites = () => world.callsOf("kv put catalog/blob/").length;

/** Whatever a run does, what is served and stored stays as it is. */
async function runServingTheSame(run: () => Promise<Run>): Promise<Run> {
  const [served, blobs] = [await world.served(), blobWrites()];
  const ended = await run();
  expect(await world.served()).toEqual(served);
  expect(blobWrites()).toBe(blobs);
  expect(ended.generation_after).toBeNull();
  return ended;
}

describe("an upstream that lost half of its rows", () => {
  beforeEach(() => world.setAirports(PUBLISHED / 2));

  it("fails the run with evidence, and the served version stays", async () => {
    const run = await runServingTheSame(() => world.runToEnd());
    expect(run).toMatchObject({
      state: "failed",
      outcome: null,
      error: {
        code: "guard_shrink",
        stage: "guard",
        message: expect.stringContaining("guard_shrink: airports 60 → 30"),
      },
    });
    expect(guards(run)).toContainEqual(["guard_shrink", "airports", 60, 30]);
    expect(guards(run)).toContainEqual(["guard_change", "airports", null, 30]);
    expect(world.history.rows.get(run.id)?.run.guards).toEqual(run.guards);
    expect(world.history.rows.size).toBe(2);
  });

  it("shows in a dry run, which writes nothing", async () => {
    const run = await runServingTheSame(() => world.runToEnd({ mode: "dry_run" }));
    expect(run).toMatchObject({
      state: "succeeded",
      outcome: "dry_run",
      counts: { airports: { kept: 30, added: 0, changed: 0, removed: 30 } },
      generation_before: 1,
    });
    expect(guards(run)).toContainEqual(["guard_shrink", "airports", 60, 30]);
  });
});

describe("the changes in a run", () => {
  it.each(["dry_run", "incremental"] as const)(
    "include the first of each kind, with the values before, in mode %s",
    async (mode) => {
      const [first = {}, ...others] = moreAirports(PUBLISHED);
      const more = moreAirports(PUBLISHED + 1).slice(PUBLISHED);
      world.upstream = anUpstream([{ ...first, name: "Kloten" }, ...others.slice(1), ...more]);
      const { changes } = await world.runToEnd({ mode });
      const counts = { added: 1, changed: 1, removed: 1 };
      expect(changes).toMatchObject({ locale: "en", airports: { counts } });
      const { changed = [], added = [], removed = [] } = changes?.airports ?? {};
      expect(changed).toMatchObject([
        { before: { name: first["name"] }, after: { name: "Kloten" } },
      ]);
      expect(added.map(({ iata }) => iata)).toEqual(more.map(({ iata_code: iata }) => iata));
      expect(removed.map(({ iata }) => iata)).toEqual([others[0]?.["iata_code"]]);
    },
  );

  it("stay unknown if nothing was published or can be read", async () => {
    expect((await new CoordinatorWorld().runToEnd()).changes).toBeNull();
    world.store.kv.clear();
    world.store.r2.clear();
    world.setAirports(PUBLISHED + 1);
    const unread = await world.runToEnd({ mode: "dry_run" });
    expect(unread).toMatchObject({ outcome: "dry_run", counts: null, changes: null });
  });
});

describe("an upstream whose file cannot be used", () => {
  const whole = csvOf(moreAirports(PUBLISHED));
  const quoted = csvOf([...moreAirports(PUBLISHED), anAirportRow({ name: 'Zürich, "Kloten"' })]);

  it.each([
    ["truncated", "breaks off within a row", whole.slice(0, -20)],
    ["truncated", "is truncated within quotes", quoted.slice(0, quoted.indexOf("Kloten"))],
    ["missing_columns", "has lost a column", whole.replace("iata_code", "iata")],
    ["missing_columns", "is an error page", "<html></html>\n"],
    ["not_utf8", "is in Latin-1", Buffer.from(quoted, "latin1")],
  ])("fails the run as %s when it %s, by force too", async (fault, _, content) => {
    world.upstream = {
      ...world.upstream,
      fetch: async () => [
        { name: "airports.csv", bytes: Buffer.from(content) },
        { name: "regions.csv", bytes: Buffer.from("code,name\n") },
      ],
    };
    for (const forced of [false, true]) {
      const run = await runServingTheSame(() => world.runToEnd({ forced }));
      expect(run).toMatchObject({ state: "failed", error: { code: `source_${fault}` } });
    }
  });
});

describe("an upstream that no force lets pass", () => {
  const someRejected = moreAirports(PUBLISHED).map((row, index) =>
    index % 20 === 5 ? { ...row, latitude_deg: "north" } : row,
  );

  it.each([
    ["has no rows", [], ["guard_empty", "airports", 60, 0]],
    ["has many rows that are rejected", someRejected, ["guard_rejects", undefined, null, 3]],
  ])("fails the run if it %s", async (_, rows, trip) => {
    world.upstream = anUpstream(rows);
    for (const forced of [false, true]) {
      const run = await runServingTheSame(() => world.runToEnd({ forced }));
      expect(run).toMatchObject({ state: "failed", error: { stage: "guard" } });
      expect(guards(run)).toContainEqual(trip);
    }
  });
});

describe("an upstream whose values are as long as a row may be", () => {
  const LONG = "X".repeat(250_000);
  const CUT = `${"X".repeat(40)}…`;

  it("leads to a refusal with evidence that stays small", async () => {
    const bad = [
      ...Array.from({ length: 5 }, () => anAirportRow({ iata_code: LONG })),
      ...Array.from({ length: 5 }, () => anAirportRow({ id: LONG })),
    ];
    world.upstream = anUpstream([...moreAirports(PUBLISHED + 1), ...bad]);
    const run = await runServingTheSame(() => world.runToEnd());
    expect(run).toMatchObject({ state: "failed", rejects_total: 10 });
    expect(guards(run)).toContainEqual(["guard_rejects", undefined, null, 10]);
    expect(run.rejects.map(({ iata }) => iata).slice(0, 5)).toEqual(Array(5).fill(CUT));
    expect(run.rejects.map(({ id }) => id).slice(5)).toEqual(Array(5).fill(CUT));
    expect(JSON.stringify(run).length).toBeLessThan(10_000);
  });

  it("leads to shortened codes of new regions in the run", async () => {
    const code = `CH-${"X".repeat(100)}`;
    const row = anAirportRow({ id: "9999", iata_code: "QQQ", iso_region: code });
    const files = {
      "airports.csv": csvOf([...moreAirports(PUBLISHED), row]),
      "regions.csv": `code,name\n${code},Utopia\n`,
    };
    world.upstream = {
      ...world.upstream,
      fetch: async () =>
        Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    };
    const run = await world.runToEnd({ mode: "dry_run" });
    expect(run.accounting?.new_regions).toEqual([`CH-${"X".repeat(37)}…`]);
    expect(JSON.stringify(run).length).toBeLessThan(10_000);
  });
});
