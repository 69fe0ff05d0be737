import { expect, it } from "vitest";
import { anUpstream } from "../../builders/coordinator-world.ts";
import { readSnapshotRows } from "../../builders/forgetful-snapshot.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { DEPLOYED_LIMITS } from "../../builders/surprise-limits.ts";

const ROWS = readSnapshotRows("airports.csv.gz");
const HALF = Math.floor(ROWS.length / 2);

it("the guards refuse half of the world's airports, as a first file and after a whole one", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.surprises = DEPLOYED_LIMITS;
  const half = anUpstream(ROWS.slice(0, HALF));
  world.upstream = half;
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^guard_truncated: the catalog has \d{4} airports, and upstream's first file lists \d{4}; guard_truncated: of \d{4} airports that travellers use, upstream has \d{4}$/,
    ),
  });
  world.upstream = anUpstream(ROWS);
  expect((await world.runToEnd()).outcome).toBe("published");
  const whole = world.current;
  world.upstream = half;
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringContaining(
      `guard_truncated: upstream listed ${ROWS.length} airports and now lists ${HALF}; guard_truncated: of`,
    ),
  });
  expect(world.current).toBe(whole);
});

it("the guards refuse a file that repeats all rows, though it changes nothing, and pass the right one after it", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.upstream = anUpstream(ROWS);
  await world.runToEnd();
  world.upstream = anUpstream(Array.from({ length: 10 }, () => ROWS).flat());
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringMatching(
      new RegExp(
        `^guard_padded: upstream listed ${ROWS.length} airports and now lists ${ROWS.length}0; guard_rejects: `,
      ),
    ),
  });
  world.upstream = anUpstream(ROWS);
  expect((await world.runToEnd()).outcome).toBe("unchanged");
});

it("a first file is measured by the catalog, and rows without a code measure nothing", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.surprises = DEPLOYED_LIMITS;
  world.upstream = anUpstream([...ROWS, ...ROWS.slice(0, 800)]);
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringContaining(
      `guard_padded: the catalog has ${ROWS.length} airports, and upstream's first file lists ${ROWS.length + 800}`,
    ),
  });
  const uncoded = ROWS.map((row) => ({ ...row, id: `9${row["id"]}`, iata_code: "" }));
  world.upstream = anUpstream([...ROWS, ...uncoded]);
  expect((await world.runToEnd()).outcome).toBe("published");
  world.upstream = anUpstream(ROWS);
  expect((await world.runToEnd()).outcome).toBe("unchanged");
});

it("the guards refuse a file with too many unusable rows, though it changes nothing", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.upstream = anUpstream(ROWS);
  await world.runToEnd();
  const unusable = ROWS.slice(0, 400).map((row) => ({ ...row, type: "airship_mast" }));
  world.upstream = anUpstream([...unusable, ...ROWS.slice(400)]);
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringMatching(/^guard_rejects: \d+ of \d+ rows rejected$/),
  });
});
