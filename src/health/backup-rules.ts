import { describeDuration } from "./durations.ts";
import type { Facts } from "./facts.ts";
import { type Finding, judgeInput, type RuleContext } from "./rule.ts";

/** Judges the age of the newest backup. Before the first backup, the monitor's start counts. */
export function judgeBackupAge({ backups, monitor }: Facts, { now, limits }: RuleContext): Finding {
  const measurement = { threshold: limits.backupStaleMs, unit: "ms" } as const;
  return judgeInput(backups, measurement, ({ newestFinishedAt }) => {
    const value = Math.max(0, now - timeOf(newestFinishedAt, monitor.since));
    const age = describeDuration(value);
    const message =
      newestFinishedAt === null
        ? `There has been no backup, for ${age}.`
        : `The newest backup was finished ${age} ago.`;
    return { value, message, evidence: { newest_finished_at: newestFinishedAt } };
  });
}

/** Judges the age of the last verified backup while a newer one is unverified. */
export function judgeVerification(
  { backups, monitor }: Facts,
  { now, limits }: RuleContext,
): Finding {
  const measurement = { threshold: limits.backupUnverifiedMs, unit: "ms" } as const;
  return judgeInput(backups, measurement, ({ newestFinishedAt, newestVerifiedAt }) => {
    const evidence = {
      newest_finished_at: newestFinishedAt,
      newest_verified_at: newestVerifiedAt,
    };
    if (newestFinishedAt === null)
      return { value: 0, message: "There is no backup to verify.", evidence };
    if (timeOf(newestVerifiedAt, 0) >= Date.parse(newestFinishedAt))
      return { value: 0, message: "The newest backup is verified.", evidence };
    const value = Math.max(0, now - timeOf(newestVerifiedAt, monitor.since));
    const message = `The newest backup is not verified; the last verified one is from ${newestVerifiedAt ?? "never"}.`;
    return { value, message, evidence };
  });
}

/** Parses a time to milliseconds since 1970. Returns `otherwise` for null. */
function timeOf(text: string | null, otherwise: number): number {
  return text === null ? otherwise : Date.parse(text);
}
