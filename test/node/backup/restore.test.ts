import { describe, expect, it } from "vitest";
import { blobsOf } from "../../../src/parts/manifest.ts";
import {
  backupObjectKey,
  backupPartKey,
  MANIFEST_KEY,
  sourceKey,
} from "../../../src/storage/keys.ts";
import { aBackupRequest, BackupWorld, byOps } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { flipBit } from "../../builders/memory-bucket.ts";
import { manifestBytes } from "../../builders/memory-catalog-store.ts";

const world = new BackupWorld();
startEachFrom(world, async () => {
  await world.ingest.publishVersions(3);
  await world.drain();
});

/** What a backup brings back. */
async function comparable(of: BackupWorld) {
  const { state, history, served } = await of.everything();
  return { history, served, versions: state["versions"] ?? [] };
}

describe("a restore", () => {
  it("can be undone by restoring the backup made before it, and removes nothing from the history", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(2);
    await world.drain();
    const present = await comparable(world);

    const { chain, generation } = await world.restore(backup_id);
    expect(generation).toBe(6);
    expect((await world.ingest.served())?.catalog_sha256).not.toBe(present.served?.catalog_sha256);
    expect((await comparable(world)).history).toEqual(present.history);

    const undone = await world.restore(chain[0] ?? "");
    expect(undone).toMatchObject({ state: "succeeded", generation: 7 });
    const after = await comparable(world);
    expect(after.history).toEqual(present.history);
    expect(after.versions.slice(0, -1)).toEqual(present.versions);
    expect(after.served?.locales).toEqual(present.served?.locales);
  });

  it("says that the backup lacks its ledger, and nothing of it if the backup has it", async () => {
    const whole = await world.backUp();
    expect(await world.restore(whole.backup_id)).not.toHaveProperty("warning");
    const { accepted = "" } = world.ingest.state.savedLedger() ?? {};
    world.ingest.archive.bucket.files.delete(sourceKey(accepted));
    world.bucket.files.delete(backupObjectKey(accepted));
    const { backup_id } = await world.backUp();
    expect(await world.restore(backup_id)).toMatchObject({
      state: "succeeded",
      warning: expect.stringMatching(/^The backup has no ledger of a last run, so the next run /),
    });
  });

  it("succeeds even if the present state has lost blobs, so that the backup of it fails its verification", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const current = world.ingest.current();
    for (const blob of current === null ? [] : blobsOf(current))
      if (!world.bucket.files.has(backupObjectKey(blob))) world.loseBlob(blob);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 5 });
  });

  it("runs once however often its request is repeated, also after its end and a later publication", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const { coordinator } = world.ingest;
    const request = byOps();
    const first = await coordinator.restoreBackup(backup_id, request);
    if (!first.ok) throw new Error(first.reason);
    const { id } = first.job;
    const repeated = { ok: true, changed: false, job: { id } };
    for (const stage of ["copy_state", "check_objects", "settle"] as const) {
      await world.drain(() => world.stage === stage);
      expect(await coordinator.restoreBackup(backup_id, request), stage).toMatchObject(repeated);
    }
    await world.drain();
    await coordinator.resume();
    await world.ingest.publishVersions(1);
    expect(await coordinator.restoreBackup(backup_id, request)).toMatchObject(repeated);
    expect(world.job(id)).toMatchObject({ state: "succeeded", generation: 5 });
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 7 });
  });

  it("still finds its backup if retention runs before it", async () => {
    const { backup_id } = await world.backUp({ trigger: "cron" });
    world.ingest.time += 3_600_000;
    const made = await world.ingest.coordinator.backUp(aBackupRequest({ trigger: "cron" }));
    const restore = await world.ingest.coordinator.restoreBackup(backup_id, byOps());
    if (!made.ok || !restore.ok) throw new Error("not started");
    await world.drain();
    expect(world.job(restore.job.id)).toMatchObject({ state: "succeeded", error: null });
  });

  it("runs between a backup with a note about it and the verification of that backup", async () => {
    const { backup_id } = await world.backUp();
    const jobs = world.chainOf(await world.restore(backup_id));
    const [safety] = jobs;
    expect(jobs).toMatchObject([
      { kind: "run", state: "succeeded", trigger: "restore" },
      { kind: "restore", state: "succeeded", backup_id },
      { kind: "verify", state: "succeeded", backup_id: safety?.id, verdict: "verified" },
    ]);
    const manifest = JSON.parse((await world.store.readManifest(safety?.backup_id ?? "")) ?? "");
    expect(manifest).toMatchObject({
      trigger: "restore",
      note: `before the restore of ${backup_id}`,
    });
  });

  it("ends as cancelled, with its verification, when the backup before it fails", async () => {
    const { backup_id } = await world.backUp();
    world.before = (call) => {
      if (call === "d1 read") throw new Error("503 Service Unavailable");
    };
    const [safety, ...others] = world.chainOf(await world.restore(backup_id));
    expect(safety).toMatchObject({ state: "failed", error: { code: "store_fault" } });
    const message = `The backup before it, job ${safety?.id}, failed: ${safety?.error?.message}`;
    const error = { code: "predecessor_failed", message, stage: null };
    expect(others).toMatchObject([
      { kind: "restore", state: "cancelled", generation: null, error },
      { kind: "verify", state: "cancelled", verdict: null, error },
    ]);
  });

  it("keeps the backup made before it and cancels only the verification if it fails", async () => {
    const { backup_id } = await world.backUp();
    world.bucket.damage(backupPartKey(backup_id, "state.000001.ndjson.gz"), flipBit);
    const jobs = world.chainOf(await world.restore(backup_id));
    expect(jobs.map(({ state }) => state)).toEqual(["succeeded", "failed", "cancelled"]);
    expect(jobs[2]?.error?.message).toContain("The restore before it, job");
    expect(await world.verify(jobs[0]?.backup_id ?? "")).toMatchObject({ verdict: "verified" });
  });

  it("starts right after the backup before it, even if a paused run is resumed meanwhile", async () => {
    const { coordinator } = world.ingest;
    const { backup_id } = await world.backUp();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    await coordinator.pause({ by: "ops", note: null, until: null }, false);
    world.ingest.time += 1_000;
    const started = await coordinator.restoreBackup(backup_id, byOps());
    if (!started.ok) throw new Error(started.reason);
    await world.drain(() => world.stage === "copy_tables");
    await coordinator.resume();
    await world.drain();
    expect(world.job(started.job.id)).toMatchObject({ state: "succeeded", generation: 4 });
    expect(world.ingest.run(run.id)).toMatchObject({ state: "cancelled", stage: "encode" });
  });

  it("brings back what waited at the time of the backup, since when it has waited", async () => {
    world.ingest.source = "other";
    world.crash();
    const run = async (name: string) => {
      world.ingest.renameAirport(name);
      expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "unchanged" });
    };
    await run("Waits");
    const held = () => world.ingest.coordinator.status().held;
    const waiting = { waiting: 1, oldest_since: new Date(world.ingest.time).toISOString() };
    expect(held()).toMatchObject(waiting);
    world.ingest.time += 3_600_000;
    const { backup_id } = await world.backUp();
    const saved = world.ingest.state.savedLedger();
    world.ingest.archive.bucket.files.delete(sourceKey(saved?.accepted ?? ""));
    world.ingest.archive.bucket.files.delete(sourceKey(saved?.held ?? ""));
    await run("Something else");
    await world.restore(backup_id);
    expect(held()).toMatchObject(waiting);
    expect(world.ingest.state.savedLedger()).toEqual(saved);
    await world.ingest.coordinator.resume();
    await run("Waits");
    expect(held()).toMatchObject(waiting);
  });

  it("cancels the run in progress that a pause holds, which would publish what it takes back", async () => {
    const { coordinator } = world.ingest;
    const { backup_id } = await world.backUp();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.nextStage(run.id) === "publish");
    await coordinator.pause({ by: "ops", note: null, until: null }, false);
    const { generation } = await world.restore(backup_id);
    await coordinator.resume();
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({
      state: "cancelled",
      cancellation: { by: "ops", note: `backup ${backup_id} was restored` },
    });
    expect(world.rows("ingest_runs")).toContainEqual(
      expect.objectContaining({ id: run.id, state: "cancelled" }),
    );
    expect(coordinator.status().current).toMatchObject({ generation });
  });

  it("never writes the audit, which a forged backup could falsify", async () => {
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

  it("publishes above what a store shows, which it asks again if it does not answer", async () => {
    const { backup_id } = await world.backUp();
    const current = world.ingest.current();
    if (current === null) throw new Error("nothing is published");
    const published_at = "2026-01-01T00:00:00.000Z";
    world.ingest.store.kv.set(
      MANIFEST_KEY,
      manifestBytes({ ...current, generation: 40, published_at }),
    );
    let isRefused = false;
    world.before = (call) => {
      if (isRefused || world.stage !== "replace_versions") return;
      if (call !== `catalog kv get ${MANIFEST_KEY}`) return;
      isRefused = true;
      throw new Error("503");
    };
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 41 });
    expect(isRefused).toBe(true);
  });

  it("publishes above what it has published, whatever the stores have lost", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(2);
    for (const replica of ["kv", "r2"] as const) world.ingest.store[replica].clear();
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 6 });
  });

  it("publishes above every generation of the installation and of the backup", async () => {
    const { backup_id } = await world.backUp();
    const other = new BackupWorld(world);
    await other.ingest.publishVersions(8);
    await other.drain();
    expect(await other.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 9 });
    expect(await other.ingest.served()).toMatchObject({ generation: 9 });
    const generations = other.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([9, 3, 2, 1]);
  });

  it("pauses ingestion if it was running, even if the pause in the backup has ended", async () => {
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

  it("removes the end of a pause, so that no queued run undoes the restore", async () => {
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
});
