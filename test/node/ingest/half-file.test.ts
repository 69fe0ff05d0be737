import { beforeAll, describe, expect, it } from "vitest";
import { anUpstream } from "../../builders/coordinator-world.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";
import { DEPLOYED_LIMITS } from "../../builders/hold-limits.ts";

const ROWS = moreAirports(400);
const HALF = ROWS.slice(0, 200);
const others = (changes: (index: number) => object) =>
  ROWS.map((row, index) => ({ ...row, id: `9${row["id"]}`, ...changes(index) }));
const UNCODED = others(() => ({ iata_code: "" }));
const INVENTED = moreAirports(500).slice(400);
const UNUSABLE = ROWS.map((row, index) => (index < 20 ? { ...row, type: "airship_mast" } : row));

function aWorld(): PipelineWorld {
  const world = new PipelineWorld(["en"]);
  world.snapshot = aSnapshot({ airports: ROWS });
  world.holdLimits = DEPLOYED_LIMITS;
  return world;
}

/** Ingests a file on a day of its own. */
async function ingest(world: PipelineWorld, rows: typeof ROWS) {
  world.upstream = anUpstream(rows);
  const { outcome } = await world.runToEnd();
  world.time += 86_400_000;
  return outcome;
}

describe("the guards of a first file", () => {
  it.each([
    [
      "half of the world's airports",
      HALF,
      "guard_truncated: the catalog has 400 airports, and upstream's first file lists 200; guard_truncated: of 400 airports that travellers use, upstream has 200",
    ],
    [
      "rows that are repeated",
      [...ROWS, ...ROWS.slice(0, 40)],
      "guard_padded: the catalog has 400 airports, and upstream's first file lists 440; guard_rejects: 40 of 440 rows rejected",
    ],
  ])("refuse %s", async (_, rows, message) => {
    await expect(ingest(aWorld(), rows)).rejects.toThrow(message);
  });
});

describe("the right file", () => {
  it.each([
    ["a first file with 7 % invented rows", [[...ROWS, ...INVENTED.slice(0, 28)]]],
    ["a first file that lacks 7 % of the rows", [ROWS.slice(28)]],
    [
      "files with 1.75 % more invented rows on each of three days",
      [0, 7, 14, 21].map((count) => [...ROWS, ...INVENTED.slice(0, count)]),
    ],
  ])("passes after %s", async (_, days) => {
    const world = aWorld();
    for (const rows of days) await ingest(world, rows);
    expect(await ingest(world, ROWS)).toBe("unchanged");
  });
});

describe("the guards of a file after one with as many rows without a code as with one", () => {
  let world: PipelineWorld;

  beforeAll(async () => {
    world = aWorld();
    await ingest(world, [...ROWS, ...UNCODED]);
  });

  it.each([
    [
      "half of the world's airports",
      HALF,
      /^guard_truncated: upstream listed 400 airports and now/,
    ],
    [
      "rows that are repeated, though they change nothing",
      Array.from({ length: 10 }, () => ROWS).flat(),
      /^guard_padded: upstream listed 400 airports and now lists 4000; guard_rejects: /,
    ],
    [
      "too many unusable rows, though they change nothing",
      UNUSABLE,
      /^guard_rejects: 20 of 400 rows/,
    ],
  ])("refuse %s, and then pass the right file", async (_, rows, message) => {
    const { current } = world;
    await expect(ingest(world, rows)).rejects.toThrow(message);
    expect(world.current).toBe(current);
    expect(await ingest(world, ROWS)).toBe("unchanged");
  });
});
