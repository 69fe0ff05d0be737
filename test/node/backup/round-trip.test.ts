import { beforeEach, describe, expect, it } from "vitest";
import { BackupWorld } from "../../builders/backup-world.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld();
  await world.ingest.publishVersions(3);
  await world.drain();
});

describe("a backup", () => {
  it("is made, verified, and lets the ingest go on", async () => {
    const job = await world.backUp({ note: "before the holidays", pin: true });
    expect(job).toMatchObject({
      kind: "run",
      state: "succeeded",
      verdict: "verified",
      error: null,
      backupId: job.id,
    });
    const run = await world.ingest.runToEnd();
    expect(run.state).toBe("succeeded");
  });

  it("restores an empty installation to the same tables, versions and bytes", async () => {
    await world.ingest.coordinator.pause({ by: "ops", reason: "holidays", until: null }, false);
    await world.ingest.enqueue({ note: "waits" });
    await world.drain();
    const before = await world.everything();
    const { backupId } = await world.backUp();

    const fresh = new BackupWorld(world);
    const restored = await fresh.restore(backupId);
    expect(restored).toMatchObject({ state: "succeeded", generation: 4, error: null });
    const after = await fresh.everything();
    expect(after.history).toEqual(before.history);
    const { versions, ...state } = after.state;
    const { versions: versionsBefore, ...stateBefore } = before.state;
    expect(state).toEqual(stateBefore);
    expect(versions.slice(0, -1)).toEqual(versionsBefore);
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
});
