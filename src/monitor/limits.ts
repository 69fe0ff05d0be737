import { DAY_MS, HOUR_MS } from "../platform/time.ts";

const MINUTE_MS = 60_000;

/** Longest time between two evaluations by cron. */
export const MONITOR_GAP_MS = 15 * MINUTE_MS;

/** The limits that an operator may set, each with its setting, default and range. */
const SETTINGS = {
  /** Time since the last comparison with upstream. */
  catalogStaleMs: ["ALERT_CATALOG_STALE_MS", 30 * HOUR_MS, 1_000, 90 * DAY_MS],
  /** Age of the data by its source's date. */
  dataOldMs: ["ALERT_DATA_OLD_MS", 730 * DAY_MS, DAY_MS, 3_650 * DAY_MS],
  /** Consecutive failed runs. */
  ingestFailingRuns: ["ALERT_INGEST_FAILING_RUNS", 3, 1, 20],
  /** Time without progress of a run or of the replication to the stores. */
  ingestStuckMs: ["ALERT_INGEST_STUCK_MS", 10 * MINUTE_MS, MINUTE_MS, DAY_MS],
  /** Length of a pause. */
  ingestPausedMs: ["ALERT_INGEST_PAUSED_MS", DAY_MS, MINUTE_MS, 90 * DAY_MS],
  /** Time for which a surprising change by upstream waits. */
  changesHeldMs: ["ALERT_CHANGES_HELD_MS", 2 * DAY_MS, MINUTE_MS, 90 * DAY_MS],
  /** Time since the newest backup. */
  backupStaleMs: ["ALERT_BACKUP_STALE_MS", 26 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  /** Time since the newest verified backup while a newer one is unverified. */
  backupUnverifiedMs: ["ALERT_BACKUP_UNVERIFIED_MS", 25 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  /** Interval at which an open alert is repeated. */
  repeatMs: ["ALERT_REPEAT_MS", 4 * HOUR_MS, MINUTE_MS, 7 * DAY_MS],
} as const satisfies {
  readonly [limit: string]: readonly [setting: string, value: number, min: number, max: number];
};

export type Limits = { readonly [L in keyof typeof SETTINGS]: number };

/** The raw settings that `readLimits` reads. A missing one has its default. */
export type LimitSettings = {
  readonly [S in (typeof SETTINGS)[keyof Limits][0]]?: string | undefined;
};

/** The names of all settings that `readLimits` reads. */
export const LIMIT_SETTINGS = Object.values(SETTINGS).map(([name]) => name);

/** Parses the limits. An invalid setting is listed in `problems` and has its default. */
export function readLimits(settings: LimitSettings): {
  readonly limits: Limits;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const limits = Object.fromEntries(
    Object.entries(SETTINGS).map(([limit, [name, value, min, max]]) => {
      const text = settings[name];
      const number = text === undefined ? value : readNumber(text, min, max);
      if (number === undefined) problems.push(`${name} must be a whole number, ${min} to ${max}`);
      return [limit, number ?? value];
    }),
  ) as unknown as Limits; // SETTINGS has every key of Limits
  return { limits, problems };
}

function readNumber(text: unknown, min: number, max: number): number | undefined {
  const number = typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}
