import { z } from "zod";
import { type BackupStatus, judgeStatus, newestTimes } from "../backup/listing.ts";
import { backupStatus } from "./backup-schema.ts";
import type { BackupAccess } from "./backup-use-cases.ts";
import { summarySection } from "./dashboard-routes.ts";
import type { Check } from "./health.ts";
import type { MonitorCheck } from "./monitor-routes.ts";
import { timestamp } from "./run-schema.ts";

const DEADLINE_MS = 2_000;

const sectionSchema = z.strictObject({
  status: backupStatus,
  newest_at: timestamp.nullable(),
  newest_verified_at: timestamp.nullable(),
});

/** How backups are going, for the dashboard. */
export function backupSection(access: BackupAccess, now: () => number) {
  return summarySection({
    schema: sectionSchema,
    unread: "warn",
    read: async () => {
      const { status, finishedAt, goodFinishedAt } = await readNewest(access, now);
      return {
        status: CHECKS[status].status,
        shown: { status, newest_at: finishedAt, newest_verified_at: goodFinishedAt },
      };
    },
  });
}

/** Whether there is a backup that is new enough and has proved good. */
export function backupCheck(access: BackupAccess, now: () => number): MonitorCheck {
  return {
    name: "backup",
    deadlineMs: DEADLINE_MS,
    read: async () => {
      const { status, finishedAt, goodFinishedAt } = await readNewest(access, now);
      return {
        "backup:status": [CHECKS[status]],
        "backup:age": [age(finishedAt, now())],
        "backup:verifiedAge": [age(goodFinishedAt, now())],
      };
    },
  };
}

async function readNewest({ store, staleAfterMs }: BackupAccess, now: () => number) {
  const times = await newestTimes(store);
  return { ...times, status: judgeStatus(times, { now, staleAfterMs }) };
}

/** Without a backup everything is served all the same: nothing here fails. */
const CHECKS: { readonly [S in BackupStatus]: Check } = {
  ok: { status: "pass" },
  stale: { status: "warn", output: "the newest backup is too old" },
  unverified: { status: "warn", output: "the newest backup has not proved good" },
  no_backups: { status: "warn", output: "there is no backup yet" },
};

function age(at: string | null, now: number): Check {
  if (at === null) return { status: "warn", output: "none" };
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  return { status: "pass", observedValue: seconds, observedUnit: "s" };
}
