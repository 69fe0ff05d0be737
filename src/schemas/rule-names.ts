/** The names of the health rules, apart from the rules, which the pages do not load. */

/** Every rule, in the order in which it is shown. */
export const RULE_NAMES = [
  "catalog_stale",
  "data_old",
  "ingest_failing",
  "source_broken",
  "ingest_stuck",
  "replication_stuck",
  "foreign_stores",
  "guard_tripped",
  "rows_unusable",
  "changes_held",
  "ingest_paused_long",
  "queue_backlog",
  "blobs_lost",
  "integrity_mismatch",
  "ledger_lost",
  "history_lost",
  "values_set_aside",
  "backup_stale",
  "backup_unverified",
  "coverage_drop",
  "locales_differ",
  "notify_failing",
  "ticks_missed",
  "monitor_gap",
  "token_expiring",
  "settings_wrong",
] as const;
export type RuleName = (typeof RULE_NAMES)[number];

export const SEVERITIES = ["warn", "fail"] as const;
/** Status of a bad finding. */
export type Severity = (typeof SEVERITIES)[number];

export const UNITS = [
  "ms",
  "runs",
  "rows",
  "guards",
  "copies",
  "blobs",
  "points",
  "locales",
  "evaluations",
  "ticks",
  "tokens",
  "settings",
] as const;
export type Unit = (typeof UNITS)[number];

export const HEALTH_STATUSES = ["pass", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** The check of the age of the last evaluation of the alerts. */
export const EVALUATION = "monitor:evaluation";
