import { beforeEach, describe, expect, it } from "vitest";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { backupObjectKey, backupPartKey } from "../../../src/storage/keys.ts";
import { aRunRequest, BackupWorld, BY_OPS } from "../../builders/backup-world.ts";
import { flipBit } from "../../builders/memory-bucket.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld();
  await world.ingest.publishVersions(3);
  await world.drain();
});

/** What a backup brings back. */
async function comparable(of: BackupWorld) {
  const { state, history, served } = await of.everything();
  return { history, served, versions: state["versions"] ?? [] };
}

describe("a restore where there is something", () => {
  it("can be undone by the backup that it has made, and takes nothing from the history", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(2);
    await world.drain();
    const present = await comparable(world);

    const { undo_backup_id, generation } = await world.restore(backup_id);
    expect(generation).toBe(6);
    expect((await world.ingest.served())?.catalog_sha256).not.toBe(present.served?.catalog_sha256);
    expect((await comparable(world)).history).toEqual(present.history);

    const undone = await world.restore(undo_backup_id ?? "");
    expect(undone).toMatchObject({ state: "succeeded", generation: 7 });
    const after = await comparable(world);
    expect(after.history).toEqual(present.history);
    expect(after.versions.slice(0, -1)).toEqual(present.versions);
    expect(after.served?.locales).toEqual(present.served?.locales);
  });

  it("is the way out where the present has lost a blob: its way back need not prove good", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const current = world.ingest.current();
    for (const blob of current === null ? [] : manifestBlobs(current))
      if (!world.bucket.files.has(backupObjectKey(blob))) world.loseBlob(blob);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 5 });
  });

  it("that is repeated after a lost answer changes nothing, until something is published", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const { id } = await world.restore(backup_id);
    const { coordinator } = world.ingest;
    expect(await coordinator.restoreBackup(backup_id, BY_OPS)).toMatchObject({
      ok: true,
      changed: false,
      job: { id, generation: 5 },
    });
    // No run publishes what the restore has taken back until somebody resumes.
    world.ingest.renameAirport("Kloten");
    await world.ingest.enqueue();
    await world.drain();
    expect(await coordinator.restoreBackup(backup_id, BY_OPS)).toMatchObject({
      changed: false,
    });
    await coordinator.resume();
    await world.drain();
    const { backup_id: other } = await world.backUp();
    expect(await coordinator.restoreBackup(other, BY_OPS)).toMatchObject({ changed: true });
    expect(await coordinator.restoreBackup(backup_id, BY_OPS)).toMatchObject({
      changed: true,
    });
  });

  it("is not begun by retention, which keeps what a waiting job needs", async () => {
    const { backup_id } = await world.backUp({ trigger: "cron" });
    world.ingest.time += 3_600_000;
    const made = await world.ingest.coordinator.backUp(aRunRequest({ trigger: "cron" }));
    const restore = await world.ingest.coordinator.restoreBackup(backup_id, BY_OPS);
    if (!made.ok || !restore.ok) throw new Error("not begun");
    await world.drain();
    expect(world.job(restore.job.id)).toMatchObject({ state: "succeeded", error: null });
  });

  it("where the coordinator is new takes the present from the stores, so that it can be undone", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const served = await world.ingest.served();
    world.ingest.loseTables();
    const { undo_backup_id } = await world.restore(backup_id);
    await world.restore(undo_backup_id ?? "");
    expect((await world.ingest.served())?.catalog_sha256).toBe(served?.catalog_sha256);
  });

  it("has no way back to name where it failed before that was made", async () => {
    const { backup_id } = await world.backUp();
    world.bucket.damage(backupPartKey(backup_id, "state.000001.ndjson.gz"), flipBit);
    expect(await world.restore(backup_id)).toMatchObject({ state: "failed", undo_backup_id: null });
  });

  it("writes no audit: whoever can write a backup could forge what was done", async () => {
    const columns = "id, at, actor, action, outcome, status, request_id";
    const forge = (id: string) =>
      world.d1.database.exec(
        `INSERT INTO audit (${columns}) VALUES ('${id}', '2026-11-01T00:00:00.000Z', 'x', 'y', 'done', 200, 'r')`,
      );
    forge("forged");
    const { backup_id } = await world.backUp();
    world.d1.database.exec("DELETE FROM audit");
    forge("true");
    await world.restore(backup_id);
    expect(world.rows("audit")).toMatchObject([{ id: "true" }]);
  });

  it("publishes above every generation that was ever seen, here or there", async () => {
    const { backup_id } = await world.backUp();
    const other = new BackupWorld(world);
    await other.ingest.publishVersions(8);
    await other.drain();
    expect(await other.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 9 });
    expect(await other.ingest.served()).toMatchObject({ generation: 9 });
    const generations = other.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([9, 3, 2, 1]);
  });

  it("pauses ingestion where nothing else does, and where a pause of the backup has ended", async () => {
    const { coordinator } = world.ingest;
    const until = new Date(world.ingest.time + 60_000).toISOString();
    await coordinator.pause({ by: "ops", note: "soon over", until }, false);
    const { backup_id } = await world.backUp();
    world.ingest.time += 120_000;
    await world.drain();
    expect(coordinator.status().pause).toBeNull();
    expect(await world.restore(backup_id)).toMatchObject({ paused: true });
    expect(coordinator.status().pause).toMatchObject({ by: "ops", until: null });
  });

  it("takes away the end of a pause, so that no queued run undoes it", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const until = new Date(world.ingest.time + 60_000).toISOString();
    await world.ingest.coordinator.pause({ by: "ops", note: "bad source", until }, false);
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    const { generation } = await world.restore(backup_id);
    world.ingest.time += 120_000;
    await world.ingest.coordinator.reconcile();
    await world.drain();
    expect(world.ingest.run(run.id).state).toBe("queued");
    expect(world.ingest.coordinator.status()).toMatchObject({
      pause: { by: "ops", note: "bad source", until: null },
      current: { generation },
    });
  });

  it("leaves the queue as it is: what waits has its turn after the resume", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    world.ingest.renameAirport("Kloten");
    const begun = await world.ingest.coordinator.restoreBackup(backup_id, BY_OPS);
    if (!begun.ok) throw new Error(begun.reason);
    const { run, willStart, message } = await world.ingest.enqueue();
    expect(willStart).toBe(`after_job:${begun.job.id}`);
    expect(message).toContain("waits for resume");
    await world.drain();
    expect(world.job(begun.job.id)).toMatchObject({ state: "succeeded", generation: 5 });
    await world.ingest.coordinator.resume();
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published", generation_after: 6 });
  });
});
