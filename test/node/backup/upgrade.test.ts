import { beforeEach, describe, expect, it } from "vitest";
import { BackupWorld, byOps } from "../../builders/backup-world.ts";

let world: BackupWorld;
let id: string;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  await world.drain();
  ({ backup_id: id } = await world.backUp());
});

/** Makes a job what the Worker had stored that had a stage `rebuild`, and lets this one start. */
function deployOver(jobId: string, change: (job: string) => string): void {
  const { sql } = world.tables;
  const [row] = sql.exec("SELECT record FROM jobs WHERE id = ?", jobId).toArray();
  sql.exec("UPDATE jobs SET record = ? WHERE id = ?", change(String(row?.["record"])), jobId);
  sql.exec("DELETE FROM schema_version WHERE version > 2");
  world.crash();
}

const rebuilding = (job: string) => job.replace(/"stage":"\w+"/, '"stage":"rebuild"');

describe("a deployment over jobs whose verification has a stage `rebuild`", () => {
  it("reads the ended ones", async () => {
    const { id: jobId } = await world.verify(id);
    deployOver(jobId, (job) =>
      rebuilding(job).replace('"verdict":"verified"', '"verdict":"intact"'),
    );
    await world.drain();
    expect(world.job(jobId)).toMatchObject({ stage: "check_catalog", verdict: "verified" });
    expect(world.ingest.coordinator.setAside()).toEqual([]);
  });

  it.each([
    ["check_catalog", (job: string) => rebuilding(job).replace('"at":2', '"at":3')],
    ["compare_schema", (job: string) => job.replace('"at":3', '"at":4')],
    ["restore_tables", (job: string) => job.replace('"at":5', '"at":6')],
    ["settle", (job: string) => job.replace('"at":7', '"at":8')],
  ])("goes on with a restore at %s", async (stage, change) => {
    const result = await world.jobs.restore(id, byOps());
    if (!result.ok) throw new Error(result.reason);
    await world.drain(() => world.stage === stage);
    deployOver(result.job.id, change);
    await world.drain();
    const { generation } = world.ingest.current() ?? {};
    expect(generation).toBe(2);
    expect(world.job(result.job.id)).toMatchObject({
      state: "succeeded",
      generation,
      verdict: "verified",
    });
    expect(await world.ingest.served()).toMatchObject({ generation });
    expect(world.ingest.coordinator.setAside()).toEqual([]);
  });
});
