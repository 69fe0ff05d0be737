import { beforeEach, describe, expect, it } from "vitest";
import { listBackups } from "../../../src/backup/listing.ts";
import { aRunRequest, BackupWorld } from "../../builders/backup-world.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(2);
  await world.drain();
});

describe("one job at a time", () => {
  it("lets a second call for a backup attach to the first", async () => {
    const [first, second] = await Promise.all([
      world.jobs.run(aRunRequest()),
      world.jobs.run(aRunRequest()),
    ]);
    expect([first, second]).toMatchObject([
      { ok: true, disposition: "started" },
      { ok: true, disposition: "attached" },
    ]);
    expect(first.ok && second.ok && first.job.id === second.job.id).toBe(true);
    await world.drain();
  });

  it("makes another after it where a note or a pin would be lost", async () => {
    await world.jobs.run(aRunRequest({ note: "first" }));
    const others = [{ note: "second" }, { pin: true }, { note: "first", pin: true }];
    for (const changes of others)
      expect(await world.jobs.run(aRunRequest(changes))).toMatchObject({ disposition: "queued" });
    for (const changes of [...others, { note: "first" }, {}])
      expect(await world.jobs.run(aRunRequest(changes))).toMatchObject({ disposition: "attached" });
    await world.drain();
    const listed = await listBackups(
      { backups: world.store, jobs: async () => [], now: () => 0, staleAfterMs: 0 },
      { limit: 10, cursor: null },
    );
    expect(listed.backups.map(({ note, pinned }) => ({ note, pinned }))).toEqual([
      { note: "first", pinned: true },
      { note: null, pinned: true },
      { note: "second", pinned: false },
      { note: "first", pinned: false },
    ]);
  });

  it("refuses a restore while another job or an ingest run is under way", async () => {
    const { backupId } = await world.backUp();
    await world.jobs.run(aRunRequest());
    expect(await world.jobs.restore(backupId, "ops")).toMatchObject({ ok: false, reason: "busy" });
    await world.drain();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).stage === "encode");
    expect(await world.jobs.restore(backupId, "ops")).toEqual({
      ok: false,
      reason: "run_active",
      runId: run.id,
    });
    await world.drain();
    expect(await world.jobs.restore("019aa3c0-0000-7000-8000-000000000001", "ops")).toEqual({
      ok: false,
      reason: "not_found",
    });
  });

  it("fails a restore that an ingest run has come before, with nothing changed", async () => {
    const { backupId } = await world.backUp();
    await world.jobs.restore(backupId, "ops");
    await world.alarm();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).stage === "encode");
    while (world.alarmAt !== null && world.jobs.jobs(1)[0]?.state === "running")
      await world.alarm();
    expect(world.jobs.jobs(1)[0]).toMatchObject({
      kind: "restore",
      state: "failed",
      error: { code: "run_active" },
    });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published" });
  });

  it("makes one backup of a cron tick that fires twice, and verifies the newest once a week", async () => {
    const request = aRunRequest({ trigger: "cron" });
    await world.jobs.runOnce("37 3 * * * 1", request);
    await world.drain();
    await world.jobs.runOnce("37 3 * * * 1", request);
    await world.jobs.verifyNewestOnce("7 5 * * SUN 1");
    await world.drain();
    await world.jobs.verifyNewestOnce("7 5 * * SUN 1");
    expect(world.jobs.jobs(10).map(({ kind, state }) => [kind, state])).toEqual([
      ["verify", "succeeded"],
      ["run", "succeeded"],
    ]);
  });
});

describe("a forced ingest run", () => {
  it("publishes only after a backup of what was there before", async () => {
    world.ingest.setAirports(5);
    const run = await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.run(run.run.id)).toMatchObject({ outcome: "published", forced: true });
    const [job] = world.jobs.jobs(10);
    expect(job).toMatchObject({ trigger: "forced_publish", state: "succeeded" });
    expect(await world.restore(job?.backupId ?? "")).toMatchObject({ state: "succeeded" });
    expect(await world.ingest.served()).toMatchObject({ generation: 4, counts: { airports: 20 } });
  });

  it("fails if that backup fails, and what is served stays", async () => {
    world.before = (call) => {
      if (call.startsWith("put backups/")) throw new Error("no space");
    };
    world.ingest.setAirports(5);
    const { run } = await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({
      state: "failed",
      error: { code: "backup_failed", stage: "publish" },
      attempt: 1,
    });
    expect(world.ingest.run(run.id).error?.message).toContain("no space");
    expect(await world.ingest.served()).toMatchObject({ generation: 2 });
  });

  it("need not wait for what becomes of older backups", async () => {
    world.before = (call) => {
      if (call === "list") throw new Error("R2 is away");
    };
    world.ingest.setAirports(5);
    const { run } = await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published" });
    expect(world.jobs.jobs(1)[0]).toMatchObject({
      state: "failed",
      verdict: "verified",
      error: { phase: "retention" },
    });
  });
});
