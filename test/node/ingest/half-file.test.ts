import { expect, it } from "vitest";
import { anUpstream } from "../../builders/coordinator-world.ts";
import { readSnapshotRows } from "../../builders/forgetful-snapshot.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { DEPLOYED_LIMITS } from "../../builders/surprise-limits.ts";

const ROWS = readSnapshotRows("airports.csv.gz");
const HALF = Math.floor(ROWS.length / 2);

it("half of the world's airports is refused, by itself and after a whole file", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  world.surprises = DEPLOYED_LIMITS;
  const half = anUpstream(ROWS.slice(0, HALF));
  world.upstream = half;
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^guard_truncated: of \d{4} airports that travellers use, airports.csv has \d{4}$/,
    ),
  });
  world.upstream = anUpstream(ROWS);
  expect((await world.runToEnd()).outcome).toBe("published");
  const whole = world.current;
  world.upstream = half;
  await expect(world.runToEnd()).rejects.toMatchObject({
    message: expect.stringContaining(
      `guard_truncated: airports.csv had ${ROWS.length} rows and now has ${HALF}; guard_truncated: of`,
    ),
  });
  expect(world.current).toBe(whole);
});
