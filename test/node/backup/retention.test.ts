import { describe, expect, it } from "vitest";
import { expiredBackups, type KeptBackup } from "../../../src/backup/retention.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A Saturday. */
const NOW = Date.parse("2026-11-21T04:00:00.000Z");

/** A backup that cron made so many days ago, and that proved good. */
function aBackup(daysAgo: number, changes: Partial<KeptBackup> = {}): KeptBackup {
  const started_at = NOW - daysAgo * DAY_MS;
  return {
    id: `${daysAgo} days ago`,
    trigger: "cron",
    started_at,
    pinned: false,
    verdict: "verified",
    ...changes,
  };
}

const daily = (days: number) => Array.from({ length: days }, (_, daysAgo) => aBackup(daysAgo));

function kept(backups: readonly KeptBackup[], now = NOW): string[] {
  const gone = new Set(expiredBackups(backups, now));
  return backups.filter(({ id }) => !gone.has(id)).map(({ id }) => id);
}

describe("retention", () => {
  it("keeps the newest of 7 days, 4 weeks and 6 months", () => {
    expect(kept(daily(300))).toEqual(
      // Seven days; of the weeks the Sundays, of which the 15th is there already; of the months
      // before the last days.
      [0, 1, 2, 3, 4, 5, 6, 13, 20, 21, 52, 82, 113, 144].map((days) => `${days} days ago`),
    );
  });

  it("keeps the newest of each of 7 days on any day of the week", () => {
    for (let later = 0; later < 7; later++) {
      const backups = daily(10).map((backup) => ({
        ...backup,
        started_at: backup.started_at + later * DAY_MS,
      }));
      const days = [0, 1, 2, 3, 4, 5, 6].map((daysAgo) => `${daysAgo} days ago`);
      expect(kept(backups, NOW + later * DAY_MS)).toEqual(expect.arrayContaining(days));
    }
  });

  it("never deletes the newest backup or the newest good one", () => {
    const backups = [
      aBackup(400, { verdict: "verified" }),
      ...daily(300).map((backup) => ({ ...backup, verdict: "failed" as const })),
    ];
    expect(kept(backups)).toContain("400 days ago");
    expect(kept(backups)).toContain("0 days ago");
    expect(kept([aBackup(999, { verdict: "failed" })])).toEqual(["999 days ago"]);
  });

  it("keeps pinned backups, and for a week those that cron did not make", () => {
    const backups = [
      ...daily(30),
      aBackup(200, { id: "pinned", pinned: true }),
      aBackup(5.1, { id: "by hand", trigger: "manual" }),
      aBackup(6.9, { id: "way back", trigger: "restore" }),
      aBackup(8.1, { id: "by hand, long ago", trigger: "manual" }),
    ];
    expect(kept(backups)).toEqual(expect.arrayContaining(["pinned", "by hand", "way back"]));
    expect(kept(backups)).not.toContain("by hand, long ago");
  });

  it("prefers a good backup to a later one of the same day that failed", () => {
    const good = aBackup(3.01, { id: "good" });
    const backups = [...daily(3), aBackup(3, { id: "failed", verdict: "failed" }), good];
    expect(kept(backups)).toContain("good");
    expect(kept(backups)).not.toContain("failed");
  });

  it("keeps an unverified backup of the newest day beside a later one that failed", () => {
    const unverified = aBackup(0, { id: "unverified", verdict: "unverified" });
    const failed = aBackup(-0.1, { id: "failed", verdict: "failed" });
    expect(kept([failed, unverified, aBackup(1)])).toEqual(["failed", "unverified", "1 days ago"]);
  });
});
