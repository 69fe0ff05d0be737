/** At which value each rule's condition is met, and how often a lasting alert is told again. */
export interface Thresholds {
  /** Time since the content was last compared with upstream. */
  readonly catalogStaleMs: number;
  /** Failed runs in a row. */
  readonly ingestFailingRuns: number;
  /** Time since the heartbeat of the run under way, or that a run waits for nothing. */
  readonly ingestStuckMs: number;
  /** How long ingestion is paused; until then a pause also excuses a stale catalog. */
  readonly ingestPausedMs: number;
  /** Runs that wait. */
  readonly queueBacklogRuns: number;
  /** Rows of history that wait for D1. */
  readonly outboxBacklogRows: number;
  /** Percentage points that a locale has lost. */
  readonly coverageDropPoints: number;
  /** Time since the newest backup. */
  readonly backupStaleMs: number;
  /** Time since the newest verified backup, while a newer one is not verified. */
  readonly backupUnverifiedMs: number;
  /** Evaluations in a row at which a target could not be reached. */
  readonly notifyFailingEvaluations: number;
  /** Time between two ticks of the evaluation. */
  readonly monitorGapMs: number;
  /** Time after which an alert that lasts is told again, and before which it is not. */
  readonly repeatMs: number;
}
