import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { PART_CONTENT_MAX_BYTES } from "../../../src/backup/format.ts";
import {
  backupManifestKey,
  backupObjectKey,
  backupPartKey,
  blobKey,
} from "../../../src/storage/keys.ts";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { aRunRequest, BackupWorld, BY_OPS } from "../../builders/backup-world.ts";
import { anUpstream } from "../../builders/coordinator-world.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";

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

describe("a backup", () => {
  it("is made, proved, and lets the ingest go on", async () => {
    const job = await world.backUp({ note: "before the holidays", pin: true });
    expect(job).toMatchObject({
      kind: "run",
      state: "succeeded",
      verdict: "verified",
      error: null,
      backup_id: job.id,
    });
    world.ingest.renameAirport("Kloten");
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "published" });
  });

  it("proves a version by the airports that it was published with, whatever the setting is by now", async () => {
    const [first, ...others] = moreAirports(40);
    const unserved = others.map((row) => ({ ...row, scheduled_service: "no" }));
    world.ingest.upstream = anUpstream([...unserved, first ?? {}]);
    world.ingest.airportSet = "scheduled";
    world.ingest.crash();
    await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.current()).toMatchObject({ counts: { airports: 1 } });
    world.ingest.airportSet = "all";
    world.ingest.crash();
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it("writes only objects that no earlier one has", async () => {
    await world.backUp();
    world.calls.length = 0;
    await world.backUp();
    expect(world.calls.filter((call) => call.startsWith(`put ${backupObjectKey("")}`))).toEqual([]);
    await world.ingest.publishVersions(1);
    world.calls.length = 0;
    await world.backUp();
    const written = world.calls.filter((call) => call.startsWith(`put ${backupObjectKey("")}`));
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(world.blobs().length);
  });

  it("writes an object anew that has been damaged since", async () => {
    await world.backUp();
    const [blob = ""] = world.blobs();
    world.store.damage(backupObjectKey(blob), flipBit);
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it("waits for the run that is under way, and is made while a pause holds one", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    const { coordinator } = world.ingest;
    const begun = await coordinator.backUp(aRunRequest());
    if (!begun.ok) throw new Error(begun.reason);
    await coordinator.pause({ by: "ops", note: null, until: null }, false);
    await world.drain();
    expect(world.job(begun.job.id)).toMatchObject({ state: "succeeded", verdict: "verified" });
    expect(world.ingest.run(run.id)).toMatchObject({ state: "running", stage: "encode" });
    await coordinator.resume();
    await coordinator.backUp(aRunRequest());
    await world.drain(() => world.ingest.coordinator.jobs(1)[0]?.state === "running");
    expect(world.ingest.run(run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
  });

  it("says what no store had, and restores the versions that are whole", async () => {
    const [, , oldest] = world.ingest.coordinator.versions();
    const manifest = world.ingest.state.findVersion(oldest?.generation ?? 0);
    const lost = [...(manifest === undefined ? [] : manifestBlobs(manifest))].find((blob) => {
      const others = world.ingest.coordinator
        .versions()
        .filter(({ generation }) => generation !== manifest?.generation)
        .flatMap(({ generation }) => world.ingest.state.findVersion(generation) ?? []);
      return !others.some((other) => manifestBlobs(other).has(blob));
    });
    for (const replica of ["kv", "r2"] as const)
      world.ingest.store[replica].delete(blobKey(lost ?? ""));
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const text = (await world.store.readManifest(backup_id)) ?? "";
    expect(JSON.parse(text)).toMatchObject({ missing: [lost] });

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 4 });
    const generations = fresh.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([4, 3, 2]);
  });

  it("restores a version that has lost a diff, without that diff", async () => {
    const [first, second] = world.ingest.current()?.diffs ?? [];
    const lost = first?.common ?? "";
    for (const replica of ["kv", "r2"] as const) world.ingest.store[replica].delete(blobKey(lost));
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 4 });
    const generations = fresh.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([4, 3, 2, 1]);
    expect(fresh.ingest.current()?.diffs).toEqual([second]);
  });

  it("of a published version that has lost a blob is made, and does not prove good", async () => {
    const current = world.ingest.current();
    const older = world.ingest.state.findVersion(2);
    const [lost = ""] = [...(current === null ? [] : manifestBlobs(current))].filter(
      (blob) => older === undefined || !manifestBlobs(older).has(blob),
    );
    const { backup_id: whole } = await world.backUp();
    for (const replica of ["kv", "r2"] as const) world.ingest.store[replica].delete(blobKey(lost));
    world.store.files.delete(backupObjectKey(lost));
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({
      state: "failed",
      verdict: "failed",
      error: { code: "object_missing", stage: "check_catalog" },
    });
    expect(world.store.files.has(backupManifestKey(backup_id))).toBe(true);
    expect(await world.restore(whole)).toMatchObject({ error: { code: "object_missing" } });
    world.ingest.renameAirport("Kloten");
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "published" });
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });
});

describe("a restore on an empty installation", () => {
  it("brings back the same history, versions, pause and bytes, and publishes them anew", async () => {
    await world.ingest.coordinator.pause({ by: "ops", note: "holidays", until: null }, false);
    await world.drain();
    const before = await comparable(world);
    expect(before.history).toHaveLength(3);
    const { backup_id } = await world.backUp();

    const fresh = new BackupWorld(world);
    const restored = await fresh.restore(backup_id);
    expect(restored).toMatchObject({
      state: "succeeded",
      generation: 4,
      paused: true,
      error: null,
    });
    expect(fresh.ingest.coordinator.status().pause).toMatchObject({ note: "holidays" });
    const after = await comparable(fresh);
    expect(after.history).toEqual(before.history);
    expect(after.versions.slice(0, -1)).toEqual(before.versions);
    expect(after.served).toEqual({
      ...before.served,
      generation: 4,
      published_at: expect.any(String),
    });
    for (const sha256 of fresh.blobs())
      for (const replica of ["kv", "r2"] as const)
        expect(await fresh.ingest.store.readBlob(replica, sha256)).toEqual(
          await world.ingest.store.readBlob("r2", sha256),
        );
  });

  it("brings back also rows so long that a part takes few of them", async () => {
    const MIB = 2 ** 20;
    const long = world.d1.database.prepare(
      "INSERT INTO ingest_runs (id, seq, run) VALUES (?, 1, ?)",
    );
    for (let n = 10; n < 30; n++)
      long.run(
        `00000000-0000-7000-8000-0000000000${n}`,
        JSON.stringify({ state: "succeeded", note: "é".repeat(MIB) }),
      );
    const { backup_id } = await world.backUp();
    const parts = [...world.store.files]
      .filter(([key]) => key.startsWith(backupPartKey(backup_id, "d1.ingest_runs.")))
      .map(([, { bytes }]) => gunzipSync(bytes).length);
    expect(parts).toHaveLength(3);
    expect(Math.max(...parts)).toBeLessThanOrEqual(PART_CONTENT_MAX_BYTES);

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", error: null });
    expect(fresh.rows("ingest_runs")).toEqual(world.rows("ingest_runs"));
  });

  it("ends the row of a run that was under way in the backup, since nobody does it", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    await world.ingest.coordinator.pause({ by: "ops", note: null, until: null }, false);
    const { backup_id } = await world.backUp();
    const fresh = new BackupWorld(world);
    await fresh.restore(backup_id);
    const row = () => fresh.rows("ingest_runs").find((each) => "id" in each && each.id === run.id);
    expect(row()).toMatchObject({ state: "running" });
    await fresh.ingest.coordinator.reconcile();
    await fresh.drain();
    expect(row()).toMatchObject({ state: "failed", run: expect.stringContaining('"lost"') });
  });
});

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
      for (const replica of ["kv", "r2"] as const)
        if (!world.store.files.has(backupObjectKey(blob)))
          world.ingest.store[replica].delete(blobKey(blob));
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
    world.store.damage(backupPartKey(backup_id, "state.000001.ndjson.gz"), flipBit);
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

  it("never lifts a pause, and its job says so", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    world.before = async (call) => {
      if (call === "d1 add")
        await world.ingest.coordinator.pause({ by: "ops", note: "stop", until: null }, false);
    };
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", paused: true });
    expect(world.ingest.coordinator.status().pause).toMatchObject({ note: "stop" });
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

function flipBit(bytes: Uint8Array): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  return bytes.map((byte, index) => (index === middle ? byte ^ 1 : byte));
}
