import { describe, expect, it } from "vitest";
import { newestTimes } from "../../../src/backup/listing.ts";
import { judgeBackups } from "../../../src/health/backup-rules.ts";
import { BackupWorld } from "../../builders/backup-world.ts";

const HOUR_MS = 60 * 60 * 1000;

describe("how backups are going", () => {
  it("is stale from the age on that is set", async () => {
    const world = new BackupWorld(undefined, ["en"]);
    await world.ingest.publishVersions(1);
    await world.drain();
    const status = async (backupStaleMs: number) =>
      judgeBackups(await newestTimes(world.store), {
        now: world.ingest.time,
        limits: { backupStaleMs },
      });
    expect(await status(HOUR_MS)).toBe("no_backups");
    const { backup_id } = await world.backUp();
    world.ingest.time += 2 * HOUR_MS;
    expect(await status(HOUR_MS)).toBe("stale");
    expect(await status(3 * HOUR_MS)).toBe("ok");
    await world.store.deleteNote(backup_id, "verdict");
    expect(await status(3 * HOUR_MS)).toBe("unverified");
    await world.restore(backup_id);
    expect(await status(3 * HOUR_MS)).toBe("ok");
  });
});
