import { formatDuration } from "../platform/durations.ts";
import { DAY_MS } from "../platform/time.ts";
import { type Finding, evaluateInput, measureAge, type RuleContext } from "./rule.ts";
import type { Facts } from "./facts.ts";

const MISDATED_NAMED = 5;

/** Evaluates the age of the newest backup. Before the first backup, the monitor's start counts. */
export function evaluateBackupAge({ backups, monitor }: Facts, { now }: RuleContext): Finding {
  return evaluateInput(backups, ({ newestFinishedAt, misdated }) => {
    const { value, message } = measureAge(newestFinishedAt ?? monitor.since, now, (age) =>
      newestFinishedAt === null
        ? `There has been no backup, for ${age}.`
        : `The newest backup was finished ${age} ago.`,
    );
    const wrong = misdated.length === 0 ? "" : ` Backups with wrong times: ${misdated.length}.`;
    return {
      value,
      message: `${message}${wrong}`,
      evidence: {
        newest_finished_at: newestFinishedAt,
        misdated: misdated.slice(0, MISDATED_NAMED),
      },
    };
  });
}

/** Evaluates the age of the last verified backup while a newer one is unverified; a failed one is bad at once. */
export function evaluateVerification({ backups, monitor }: Facts, { now }: RuleContext): Finding {
  return evaluateInput(backups, ({ newestFailure, newestFinishedAt, newestVerifiedAt }) => {
    const evidence = {
      newest_finished_at: newestFinishedAt,
      newest_verified_at: newestVerifiedAt,
    };
    if (newestFinishedAt === null)
      return { value: 0, message: "There is no backup to verify.", evidence };
    if (newestFailure !== null) {
      const message = `The newest backup cannot be restored: ${newestFailure}.`;
      return { value: null, message, evidence };
    }
    if (newestVerifiedAt !== null && Date.parse(newestVerifiedAt) >= Date.parse(newestFinishedAt))
      return { value: 0, message: "The newest backup is verified.", evidence };
    const found = measureAge(newestVerifiedAt ?? monitor.since, now, (age) => {
      const last =
        newestVerifiedAt === null ? "no other is either" : `the last verified one is ${age} old`;
      return `The newest backup is not verified; ${last}.`;
    });
    return { ...found, evidence };
  });
}

const VALUES_NAMED = 5;

/** Counts the notices about stored values of both Durable Objects, until they are forgotten. */
export function evaluateSetAside({ ingest, monitor }: Facts): Finding {
  const coordinator = ingest.ok ? ingest.value.setAside : [];
  const values = [...coordinator, ...monitor.setAside].map(({ table, key }) => `${table} ${key}`);
  const named = values.slice(0, VALUES_NAMED).join(", ");
  const message =
    named === ""
      ? "Every stored value can be read."
      : `Stored values were unreadable or dated in the future: ${named}. See GET /admin/monitor/set-aside.`;
  return { value: values.length, message };
}

/** Evaluates the number of consecutive failed deliveries to each webhook. */
export function evaluateTargets({ monitor }: Facts): readonly Finding[] {
  return monitor.targets.map(({ name, failures, lastError }) => ({
    labels: { target: name },
    value: failures,
    message:
      failures === 0
        ? `The webhook "${name}" accepts messages.`
        : `The webhook "${name}" accepted no message at ${failures} evaluations: ${lastError ?? "no reason"}`,
  }));
}

/** Evaluates the gap since the previous tick. Before the first tick none is expected. */
export function evaluateGap({ monitor: { lastTickAt } }: Facts, { now }: RuleContext): Finding {
  if (lastTickAt === null) return { value: 0, message: "No tick has come yet." };
  return measureAge(lastTickAt, now, (age) => `The tick before was ${age} ago.`);
}

/** Time before the end of a token at which a warning starts. */
export const TOKEN_WARNING_MS = 14 * DAY_MS;

/** Counts the tokens that expire within 14 days, or have expired and are configured still. */
export function evaluateTokens({ monitor }: Facts, { now }: RuleContext): Finding {
  const ending = monitor.tokens.flatMap(({ id, expiresAt }) =>
    expiresAt === null || expiresAt - now > TOKEN_WARNING_MS ? [] : [{ id, expiresAt }],
  );
  const sentences = ending.map(({ id, expiresAt }) =>
    expiresAt > now
      ? `The admin token "${id}" expires in ${formatDuration(expiresAt - now)}.`
      : `The admin token "${id}" has expired.`,
  );
  return {
    value: ending.length,
    message: sentences.join(" ") || "No admin token expires soon.",
  };
}

/** Evaluates whether the settings are valid. An invalid one has its default. */
export function evaluateSettings({ monitor }: Facts): Finding {
  const { settingProblems: problems } = monitor;
  return {
    value: problems.length,
    message:
      problems.length === 0
        ? "Every setting can be used."
        : `Wrong settings: ${problems.join("; ")}. The service goes on with the defaults; ingest runs that need a wrong setting fail.`,
  };
}
