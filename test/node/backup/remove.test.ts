import { beforeEach, describe, expect, it } from "vitest";
import { backupManifestKey, backupNoteKey } from "../../../src/storage/keys.ts";
import { timeText } from "../../../src/platform/time.ts";
import { idAt } from "../../builders/an-id.ts";
import { aBackupRequest, BackupWorld, byOps } from "../../builders/backup-world.ts";
import { aBackup } from "../../builders/stored-backup.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  await world.drain();
});

/** Lays the manifest of a later backup into the store, which nobody has verified. */
function storeLater(number: number): string {
  const id = idAt((world.ingest.time += 1_000), number);
  const time = timeText(world.ingest.time);
  const { text } = aBackup(id, { started_at: time, finished_at: time });
  world.bucket.lay(backupManifestKey(id), text);
  return id;
}

/** Deletes a backup. Returns why it is refused, if it is. */
async function remove(id: string): Promise<string> {
  const result = await world.ingest.coordinator.removeBackup(id);
  return result.ok ? "deleted" : result.reason;
}

describe("deleting a backup", () => {
  it("deletes the files of that backup only", async () => {
    const { backup_id } = await world.backUp();
    const other = await world.backUp();
    const files = [...world.bucket.files.keys()].filter((key) => !key.includes(backup_id));
    expect(await remove(backup_id)).toBe("deleted");
    expect([...world.bucket.files.keys()]).toEqual(files);
    expect(await world.verify(other.backup_id)).toMatchObject({ verdict: "verified" });
  });

  it("refuses the newest backup and the newest good one, however many follow", async () => {
    const { backup_id } = await world.backUp();
    expect(await remove(backup_id)).toBe("newest_verified");
    const later = Array.from({ length: 120 }, (_, number) => storeLater(number));
    expect(await remove(backup_id)).toBe("newest_verified");
    expect(await remove(later.at(-1) ?? "")).toBe("newest");
    expect(await remove(later.at(-2) ?? "")).toBe("deleted");
    expect(world.bucket.files.has(backupManifestKey(backup_id))).toBe(true);
  });

  it("refuses a pinned backup until it is unpinned", async () => {
    const { backup_id } = await world.backUp({ pin: true });
    await world.backUp();
    expect(await remove(backup_id)).toBe("pinned");
    world.bucket.files.delete(backupNoteKey(backup_id, "pin"));
    expect(await remove(backup_id)).toBe("deleted");
  });

  it("refuses while an open job verifies or restores the backup or may undo its restore", async () => {
    const { backup_id } = await world.backUp();
    await world.backUp();
    await world.jobs.verify(backup_id, byOps());
    expect(await remove(backup_id)).toBe("in_use");
    await world.drain();
    const restore = await world.jobs.restore(backup_id, byOps());
    expect(await remove(backup_id)).toBe("in_use");
    if (!restore.ok) throw new Error(restore.reason);
    const [safetyId = ""] = restore.job.chain;
    await world.drain(() => world.stage === "restore_objects");
    storeLater(1);
    expect(await remove(safetyId)).toBe("in_use");
    await world.drain();
    expect(await remove(backup_id)).toBe("deleted");
  });

  it("refuses a backup that does not exist yet", async () => {
    await world.jobs.backUp(aBackupRequest());
    const id = "019aa3c0-0000-7000-8000-000000000001";
    expect(await remove(id)).toBe("not_found");
    await world.drain();
  });
});
