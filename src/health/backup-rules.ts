import { describeDuration } from "./durations.ts";
import type { BackupFacts, Facts } from "./facts.ts";
import { type Finding, judgeInput, type RuleContext } from "./rule.ts";
import type { Check, Checks } from "./status.ts";

/** How old the newest backup is. Before the first one, the monitor's beginning counts. */
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

/** How old the last backup is that is known to be good, while a newer one is not. */
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

/** Milliseconds since 1970; `otherwise` where there is no time. */
function timeOf(text: string | null, otherwise: number): number {
  return text === null ? otherwise : Date.parse(text);
}

/** `stale`: the newest is too old. `unverified`: the newest has not proved good. */
export const BACKUP_STATUSES = ["ok", "stale", "unverified", "no_backups"] as const;
export type BackupStatus = (typeof BACKUP_STATUSES)[number];

/** How backups are going, in one word; unlike the alerts it allows no time for what is due. */
export function judgeBackups(
  { newestFinishedAt, newestVerifiedAt }: BackupFacts,
  {
    now,
    limits,
  }: { readonly now: number; readonly limits: Pick<RuleContext["limits"], "backupStaleMs"> },
): BackupStatus {
  if (newestFinishedAt === null) return "no_backups";
  if (now - Date.parse(newestFinishedAt) >= limits.backupStaleMs) return "stale";
  return newestVerifiedAt === newestFinishedAt ? "ok" : "unverified";
}

/** Whether there is a backup that is new enough and has proved good. */
export function checkBackups(backups: BackupFacts, context: RuleContext): Checks {
  return {
    "backup:status": [STATUS_CHECKS[judgeBackups(backups, context)]],
    "backup:age": [checkAge(backups.newestFinishedAt, context.now)],
    "backup:verifiedAge": [checkAge(backups.newestVerifiedAt, context.now)],
  };
}

/** Without a backup everything is served all the same: nothing here fails. */
export const STATUS_CHECKS: { readonly [S in BackupStatus]: Check } = {
  ok: { status: "pass" },
  stale: { status: "warn", output: "the newest backup is too old" },
  unverified: { status: "warn", output: "the newest backup has not proved good" },
  no_backups: { status: "warn", output: "there is no backup yet" },
};

function checkAge(at: string | null, now: number): Check {
  if (at === null) return { status: "warn", output: "none" };
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  return { status: "pass", observedValue: seconds, observedUnit: "s" };
}
