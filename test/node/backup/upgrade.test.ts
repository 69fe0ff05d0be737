import { beforeEach, describe, expect, it } from "vitest";
import type { BackupRecord } from "../../../src/coordinator/backup-jobs.ts";
import { BackupWorld, byOps } from "../../builders/backup-world.ts";
import { rewriteVersions } from "../../builders/former-manifest.ts";

let world: BackupWorld;
let id: string;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  await world.drain();
  ({ backup_id: id } = await world.backUp());
});

/** Makes a job what the Worker had stored that had a stage `rebuild`, and lets this one start. */
function deployOver(jobId: string, change: (record: BackupRecord) => object): void {
  const { sql } = world.tables;
  const [row] = sql.exec("SELECT record FROM jobs WHERE id = ?", jobId).toArray();
  const former = JSON.stringify(change(JSON.parse(String(row?.["record"]))));
  sql.exec("UPDATE jobs SET record = ? WHERE id = ?", former, jobId);
  sql.exec("DELETE FROM schema_version WHERE version > 2");
  sql.exec("ALTER TABLE single_values RENAME TO facts");
  rewriteVersions(world.tables);
  world.crash();
}

describe("a deployment over jobs whose verification has a stage `rebuild`", () => {
  it("reads those that have ended", async () => {
    const { id: jobId } = await world.verify(id);
    deployOver(jobId, ({ job, ...record }) => ({
      ...record,
      job: { ...job, stage: "rebuild", verdict: "intact" },
    }));
    await world.drain();
    expect(world.job(jobId)).toMatchObject({ stage: "check_catalog", verdict: "verified" });
    expect(world.ingest.coordinator.setAside()).toEqual([]);
  });

  it.each([
    ["check_objects", 2],
    ["rebuild", 4],
    ["compare_schema", 5],
    ["restore_tables", 7],
    ["replace_versions", 8],
  ])("goes on with a restore after its stage %s", async (stage, at) => {
    const result = await world.jobs.restore(id, byOps());
    if (!result.ok) throw new Error(result.reason);
    await world.drain(() => world.stage === (stage === "rebuild" ? "check_catalog" : stage));
    deployOver(result.job.id, ({ job, checkpoint, ...record }) => {
      expect(checkpoint.at).toBe(at < 3 ? at : at - 1);
      return { ...record, job: { ...job, stage }, checkpoint: { ...checkpoint, at } };
    });
    await world.drain();
    const restored = { state: "succeeded", generation: 2, verdict: "verified" };
    expect(world.job(result.job.id)).toMatchObject(restored);
    expect(await world.ingest.served()).toMatchObject({ generation: 2 });
    expect(world.ingest.coordinator.setAside()).toEqual([]);
  });

  it("checks the catalog again if its next stage was `rebuild`", async () => {
    const result = await world.jobs.verify(id, byOps());
    if (!result.ok) throw new Error(result.reason);
    await world.drain(() => world.stage === "check_objects");
    deployOver(result.job.id, ({ job, checkpoint, ...record }) => ({
      ...record,
      job: { ...job, stage: "check_catalog" },
      checkpoint: { ...checkpoint, at: 3 },
    }));
    await world.drain();
    expect(world.job(result.job.id)).toMatchObject({ state: "succeeded", verdict: "verified" });
  });
});
