const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Thresholds of all health rules: a finding is bad from its limit upwards. */
export interface Limits {
  /** Time since the last comparison with upstream. */
  readonly catalogStaleMs: number;
  /** Age of the data by its source's date. */
  readonly dataOldMs: number;
  /** Consecutive failed runs. */
  readonly ingestFailingRuns: number;
  /** Time without progress of a run or of the replication to the stores. */
  readonly ingestStuckMs: number;
  /** Length of a pause. A shorter pause also excuses a stale catalog. */
  readonly ingestPausedMs: number;
  /** Time for which a surprising change by upstream waits. */
  readonly changesHeldMs: number;
  /** Queued runs. */
  readonly queueBacklogRuns: number;
  /** History rows waiting for D1. */
  readonly outboxBacklogRows: number;
  /** Lost percentage points of coverage of a locale. */
  readonly coverageDropPoints: number;
  /** Time since the newest backup. */
  readonly backupStaleMs: number;
  /** Time since the newest verified backup while a newer one is unverified. */
  readonly backupUnverifiedMs: number;
  /** Consecutive evaluations with a failed delivery to a webhook. */
  readonly notifyFailingEvaluations: number;
  /** Time between two evaluations by cron. */
  readonly monitorGapMs: number;
  /** Interval at which an open alert is repeated. */
  readonly repeatMs: number;
}

/** Setting, default and range of each limit. */
const SETTINGS = {
  catalogStaleMs: ["ALERT_CATALOG_STALE_MS", 30 * HOUR_MS, 1_000, 90 * DAY_MS],
  dataOldMs: ["ALERT_DATA_OLD_MS", 730 * DAY_MS, DAY_MS, 3_650 * DAY_MS],
  ingestFailingRuns: ["ALERT_INGEST_FAILING_RUNS", 3, 1, 20],
  ingestStuckMs: ["ALERT_INGEST_STUCK_MS", 10 * MINUTE_MS, MINUTE_MS, DAY_MS],
  ingestPausedMs: ["ALERT_INGEST_PAUSED_MS", DAY_MS, MINUTE_MS, 90 * DAY_MS],
  changesHeldMs: ["ALERT_CHANGES_HELD_MS", 2 * DAY_MS, MINUTE_MS, 90 * DAY_MS],
  queueBacklogRuns: ["ALERT_QUEUE_BACKLOG_RUNS", 5, 1, 10],
  outboxBacklogRows: ["ALERT_OUTBOX_BACKLOG_ROWS", 6, 1, 10_000],
  coverageDropPoints: ["ALERT_COVERAGE_DROP_POINTS", 5, 1, 100],
  backupStaleMs: ["ALERT_BACKUP_STALE_MS", 26 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  backupUnverifiedMs: ["ALERT_BACKUP_UNVERIFIED_MS", 25 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  notifyFailingEvaluations: ["ALERT_NOTIFY_FAILING_EVALUATIONS", 3, 1, 100],
  monitorGapMs: ["ALERT_MONITOR_GAP_MS", 15 * MINUTE_MS, MINUTE_MS, 7 * DAY_MS],
  repeatMs: ["ALERT_REPEAT_MS", 4 * HOUR_MS, MINUTE_MS, 7 * DAY_MS],
} as const satisfies {
  readonly [L in keyof Limits]: readonly [setting: string, value: number, min: number, max: number];
};

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

function readNumber(text: string, min: number, max: number): number | undefined {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}
