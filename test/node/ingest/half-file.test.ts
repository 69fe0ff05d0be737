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
      /^guard_truncated: of \d{4} airports that travellers use, upstream has \d{4}$/,
    ),
  });
  world.upstream = anUpstream(ROWS);
  expect((await world.runToEnd()).outcome).toBe("published");
  const whole = world.current;
  world.upstream = half;
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringContaining(
      `guard_truncated: upstream's list of airports had ${ROWS.length} rows and now has ${HALF}; guard_truncated: of`,
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
        `^guard_padded: upstream's list of airports had ${ROWS.length} rows and now has ${ROWS.length}0; guard_rejects: `,
      ),
    ),
  });
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
