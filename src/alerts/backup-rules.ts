import { describeDuration } from "./durations.ts";
import { measured, type Rule, unknown } from "./rule.ts";

/** There is no backup that is new enough. Before the first one, the monitor's beginning counts. */
export const backupStale: Rule = {
  name: "backup_stale",
  severity: "fail",
  forMs: 0,
  evaluate: ({ backups, monitor }, { now, thresholds }) => {
    const measurement = { threshold: thresholds.backupStaleMs, unit: "ms" } as const;
    if (!backups.ok) return [unknown(backups.why, measurement)];
    const { newestFinishedAt } = backups.value;
    const value = Math.max(0, now - timeOf(newestFinishedAt, monitor.since));
    const age = describeDuration(value);
    const message =
      newestFinishedAt === null
        ? `There has been no backup, for ${age}.`
        : `The newest backup was finished ${age} ago.`;
    return [
      measured({
        ...measurement,
        value,
        message,
        evidence: { newest_finished_at: newestFinishedAt },
      }),
    ];
  },
};

/** The newest backup is not known to be good, and the last one that is has become old. */
export const backupUnverified: Rule = {
  name: "backup_unverified",
  severity: "warn",
  forMs: 0,
  evaluate: ({ backups, monitor }, { now, thresholds }) => {
    const measurement = { threshold: thresholds.backupUnverifiedMs, unit: "ms" } as const;
    if (!backups.ok) return [unknown(backups.why, measurement)];
    const { newestFinishedAt, newestVerifiedAt } = backups.value;
    const evidence = {
      newest_finished_at: newestFinishedAt,
      newest_verified_at: newestVerifiedAt,
    };
    const isVerified = timeOf(newestVerifiedAt, 0) >= timeOf(newestFinishedAt, 0);
    if (isVerified) {
      const message =
        newestFinishedAt === null
          ? "There is no backup to verify."
          : "The newest backup is verified.";
      return [measured({ ...measurement, value: 0, message, evidence })];
    }
    const value = Math.max(0, now - timeOf(newestVerifiedAt, monitor.since));
    const message = `The newest backup is not verified; the last verified one is from ${newestVerifiedAt ?? "never"}.`;
    return [measured({ ...measurement, value, message, evidence })];
  },
};

/** Milliseconds since 1970; `otherwise` where there is no time. */
function timeOf(text: string | null, otherwise: number): number {
  return text === null ? otherwise : Date.parse(text);
}
