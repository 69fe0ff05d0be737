import { beforeAll, describe, expect, it } from "vitest";
import { anUpstream } from "../../builders/coordinator-world.ts";
import { readSnapshotRows } from "../../builders/forgetful-snapshot.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { DEPLOYED_LIMITS } from "../../builders/surprise-limits.ts";

const ROWS = readSnapshotRows("airports.csv.gz");
const HALF = ROWS.slice(0, Math.floor(ROWS.length / 2));
/** Free codes, from the end of the alphabet. */
const CODES = Array.from({ length: 26 ** 3 }, (_, n) =>
  [25 - Math.floor(n / 676), 25 - (Math.floor(n / 26) % 26), 25 - (n % 26)]
    .map((letter) => String.fromCharCode(65 + letter))
    .join(""),
).filter((code) => !ROWS.some((row) => row["iata_code"] === code));
const UNCODED = ROWS.map((row) => ({ ...row, id: `9${row["id"]}`, iata_code: "" }));

function aWorld(): PipelineWorld {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.surprises = DEPLOYED_LIMITS;
  return world;
}

/** The world's airports, and some that nobody has built. */
function padded(invented: number): typeof ROWS {
  const copies = ROWS.slice(0, invented).map((row, index) => ({
    ...row,
    id: `9${row["id"]}`,
    iata_code: CODES[index] ?? "",
    name: `Invented Airport ${index}`,
  }));
  return [...ROWS, ...copies];
}

/** Ingests a file on a day of its own. */
async function ingest(world: PipelineWorld, rows: typeof ROWS) {
  world.upstream = anUpstream(rows);
  const { outcome } = await world.runToEnd();
  world.time += 86_400_000;
  return outcome;
}

async function messageOf(world: PipelineWorld, rows: typeof ROWS): Promise<string> {
  world.upstream = anUpstream(rows);
  const { current } = world;
  const error: unknown = await world.runToEnd().catch((reason: unknown) => reason);
  expect(world.current).toBe(current);
  return error instanceof Error ? error.message : "";
}

describe("the guards of a first file", () => {
  it("refuse half of the world's airports", async () => {
    expect(await messageOf(aWorld(), HALF)).toMatch(
      /^guard_truncated: the catalog has \d{4} airports, and upstream's first file lists \d{4}; guard_truncated: of \d{4} airports that travellers use, upstream has \d{4}$/,
    );
  });

  it("refuse rows that are repeated", async () => {
    expect(await messageOf(aWorld(), [...ROWS, ...ROWS.slice(0, 800)])).toContain(
      `guard_padded: the catalog has ${ROWS.length} airports, and upstream's first file lists ${ROWS.length + 800}`,
    );
  });
});

describe("the right file", () => {
  it("passes after a first file with 7 % invented rows", async () => {
    const world = aWorld();
    await ingest(world, padded(638));
    expect(await ingest(world, ROWS)).toBe("unchanged");
  });

  it("passes after a first file that lacks 7 % of the rows", async () => {
    const world = aWorld();
    await ingest(
      world,
      ROWS.filter((_, index) => index % 14 > 0),
    );
    expect(await ingest(world, ROWS)).toBe("unchanged");
  });

  it("passes after files with 1.9 % more invented rows on each of three days", async () => {
    const world = aWorld();
    await ingest(world, ROWS);
    for (const share of [0.019, 0.038, 0.057]) await ingest(world, padded(ROWS.length * share));
    expect(await ingest(world, ROWS)).toBe("unchanged");
  });
});

describe("the guards of a file after one with as many rows without a code as with one", () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = aWorld();
    world.upstream = anUpstream([...ROWS, ...UNCODED]);
    await world.runToEnd();
  });

  it("refuse half of the world's airports", async () => {
    expect(await messageOf(world, HALF)).toContain(
      `guard_truncated: upstream listed ${ROWS.length} airports and now lists ${HALF.length}; guard_truncated: of`,
    );
  });

  it("refuse rows that are repeated, though they change nothing", async () => {
    expect(await messageOf(world, Array.from({ length: 10 }, () => ROWS).flat())).toMatch(
      new RegExp(
        `^guard_padded: upstream listed ${ROWS.length} airports and now lists ${ROWS.length}0; guard_rejects: `,
      ),
    );
  });

  it("refuse too many unusable rows, though they change nothing", async () => {
    const unusable = ROWS.slice(0, 400).map((row) => ({ ...row, type: "airship_mast" }));
    expect(await messageOf(world, [...unusable, ...ROWS.slice(400)])).toMatch(
      /^guard_rejects: \d+ of \d+ rows rejected$/,
    );
  });

  it("pass the same airports without the other rows, whatever was refused before", async () => {
    await messageOf(world, HALF);
    world.upstream = anUpstream(ROWS);
    expect((await world.runToEnd()).outcome).toBe("unchanged");
  });
});
