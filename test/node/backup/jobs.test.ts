import { beforeEach, describe, expect, it } from "vitest";
import { countUp } from "../../../src/backup/step.ts";
import { findBackup, listBackups } from "../../../src/backup/listing.ts";
import { aBackupRequest, BackupWorld, byOps } from "../../builders/backup-world.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(2);
  await world.drain();
});

describe("the queue of backup jobs", () => {
  it("makes every backup that is requested, each with its note and pin", async () => {
    const requests = [{ note: "first" }, { note: "second" }, { pin: true }, {}, {}];
    for (const changes of requests)
      expect(await world.jobs.backUp(aBackupRequest(changes))).toMatchObject({ changed: true });
    await world.drain();
    const listed = await listBackups({ backups: world.store, jobs: async () => [] }, { limit: 10 });
    expect(listed.ok && listed.body.backups.map(({ note, pinned }) => ({ note, pinned }))).toEqual([
      { note: null, pinned: false },
      { note: null, pinned: false },
      { note: null, pinned: true },
      { note: "second", pinned: false },
      { note: "first", pinned: false },
    ]);
  });

  it("makes one backup for each tick, without a note or a pin", async () => {
    for (const tick of ["a day", "a day", "the next"]) await world.jobs.backUpOnce(tick);
    await world.drain();
    const listed = await listBackups({ backups: world.store, jobs: async () => [] }, { limit: 10 });
    const ofCron = { trigger: "cron", note: null, pinned: false };
    expect(listed).toMatchObject({ ok: true, body: { backups: [ofCron, ofCron] } });
  });

  it("restores in the order of the requests, each as often as it is requested", async () => {
    const { backup_id: a } = await world.backUp();
    await world.ingest.publishVersions(1);
    const { backup_id: b } = await world.backUp();
    const { coordinator } = world.ingest;
    for (const id of [a, b, b, a])
      expect(await coordinator.restoreBackup(id, byOps())).toMatchObject({ changed: true });
    await world.drain();
    const [current, previous] = coordinator.versions();
    expect(current).toMatchObject({ generation: 7 });
    expect(previous?.generation).toBe(2);
  });

  it("starts a restore after the job in progress and those that wait", async () => {
    const { backup_id } = await world.backUp();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).stage === "encode");
    const { coordinator } = world.ingest;
    await coordinator.backUp(aBackupRequest());
    const restore = await coordinator.restoreBackup(backup_id, byOps());
    expect(restore).toMatchObject({ ok: true, changed: true });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published", generation_after: 3 });
    expect(world.ingest.coordinator.jobs(3)).toMatchObject([
      { kind: "verify", state: "succeeded" },
      { kind: "restore", state: "succeeded", generation: 4 },
      { kind: "run", state: "succeeded" },
    ]);
    expect(
      await coordinator.restoreBackup("019aa3c0-0000-7000-8000-000000000001", byOps()),
    ).toEqual({
      ok: false,
      reason: "not_found",
    });
  });

  it("shows in the coordinator's status which job is in progress, and when it started its step", async () => {
    const { coordinator } = world.ingest;
    expect(coordinator.status().job).toBeNull();
    const seen = new Set<unknown>();
    await coordinator.backUp(aBackupRequest());
    world.before = () => {
      const { job } = coordinator.status();
      const startedAt = Date.parse(job?.heartbeat_at ?? "");
      seen.add(`${job?.kind} ${job?.stage} ${startedAt <= world.ingest.time}`);
    };
    await world.drain();
    expect([...seen]).toEqual(
      expect.arrayContaining(["run copy_tables true", "verify check_parts true"]),
    );
    expect(coordinator.status().job).toBeNull();
  });

  it("dates a backup from the start of its job, not from the request", async () => {
    const { backup_id: earlier } = await world.backUp();
    await world.ingest.enqueue();
    const queuedAt = world.ingest.time;
    const made = await world.jobs.backUp(aBackupRequest());
    const restored = await world.jobs.restore(earlier, byOps());
    if (!made.ok || !restored.ok) throw new Error("not queued");
    const listing = {
      backups: world.store,
      jobs: async () => world.ingest.coordinator.jobs(),
      now: () => 0,
    };
    const [safetyId = ""] = restored.job.chain;
    const { backup_id } = made.job;
    expect(await findBackup(listing, backup_id)).toMatchObject({
      state: "queued",
      started_at: null,
    });
    world.ingest.time += 60_000;
    await world.drain(() => world.job(made.job.id).stage === "copy_tables");
    expect(await findBackup(listing, backup_id)).toMatchObject({ state: "running" });
    await world.drain();
    for (const id of [backup_id, safetyId]) {
      const backup = await findBackup(listing, id);
      expect(Date.parse(backup?.started_at ?? "")).toBeGreaterThanOrEqual(queuedAt + 60_000);
      expect(backup?.duration_ms).toBeLessThan(60_000);
    }
  });

  it("logs each request with its job, and whether it has made one", async () => {
    const request = aBackupRequest();
    const made = await world.jobs.backUp(request);
    if (!made.ok) throw new Error(made.reason);
    await world.jobs.backUp(request);
    const [first, second] = world.events.filter(({ event }) => event === "backup_asked");
    const fields = { job_id: made.job.id, kind: "run" };
    expect(first?.fields).toEqual({ ...fields, changed: true });
    expect(second?.fields).toEqual({ ...fields, changed: false });
  });

  it("makes one backup for a cron tick that fires twice, and one weekly verification", async () => {
    await world.jobs.backUpOnce("37 3 * * * 1");
    await world.drain();
    await world.jobs.backUpOnce("37 3 * * * 1");
    const twice = ["7 5 * * SUN 1", "7 5 * * SUN 1"];
    await Promise.all(twice.map((key) => world.jobs.verifyNewestOnce(key)));
    await world.drain();
    await world.jobs.verifyNewestOnce("7 5 * * SUN 1");
    expect(world.ingest.coordinator.jobs(10).map(({ kind, state }) => [kind, state])).toEqual([
      ["verify", "succeeded"],
      ["verify", "succeeded"],
      ["run", "succeeded"],
    ]);
  });
});

it("a stage that has counted more than there is starts again, since it may have skipped something", () => {
  expect(countUp({ at: 2, done: 6, draft: null }, 0, 5)).toMatchObject({
    do: "again",
    checkpoint: { at: 2, done: 0 },
  });
  expect(countUp({ at: 2, done: 4, draft: null }, 1, 5)).toMatchObject({ do: "next" });
});
