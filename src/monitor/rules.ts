import { sha256Hex } from "../catalog/bytes.ts";
import {
  evaluateBackupAge,
  evaluateGap,
  evaluateSetAside,
  evaluateSettings,
  evaluateTargets,
  evaluateTokens,
  evaluateVerification,
} from "./operation-rules.ts";
import {
  evaluateCopies,
  evaluateCoverage,
  evaluateDataAge,
  evaluateLocales,
  evaluateLostBlobs,
  evaluateStaleness,
} from "./catalog-rules.ts";
import {
  type HealthStatus,
  RULE_NAMES,
  type RuleName,
  type Severity,
} from "../schemas/rule-names.ts";
import type { DurationMs } from "../platform/units.ts";
import type { Facts } from "./facts.ts";
import {
  evaluateBacklog,
  evaluateFailures,
  evaluateGuards,
  evaluateHeld,
  evaluateHistory,
  evaluateLedger,
  evaluateStores,
  evaluatePause,
  evaluateReplication,
  evaluateSource,
  evaluateStuck,
  evaluateTicks,
  evaluateUnusable,
} from "./ingest-rules.ts";
import { MONITOR_GAP_MS } from "./alert-settings.ts";
import type { AlertRule, Finding, FindingVerdict, RuleContext } from "./rule.ts";

/** Two ticks, whose distance varies by seconds. A single tick may see a brief fault. */
const TWO_TICKS_MS = 4 * 60_000;
/** Four ticks. A briefly long queue is no backlog. */
const FOUR_TICKS_MS = 14 * 60_000;

/** Every rule. docs/alerts.md explains each one and the remedy. */
export const RULES: { readonly [R in RuleName]: AlertRule } = {
  catalog_stale: {
    severity: "fail",
    unit: "ms",
    limit: "catalogStaleMs",
    evaluate: evaluateStaleness,
  },
  data_old: { severity: "warn", unit: "ms", limit: "dataOldMs", evaluate: evaluateDataAge },
  ingest_failing: {
    severity: "fail",
    unit: "runs",
    limit: "ingestFailingRuns",
    warnsFrom: 1,
    evaluate: evaluateFailures,
  },
  source_broken: { severity: "fail", unit: "runs", limit: 1, evaluate: evaluateSource },
  ingest_stuck: {
    severity: "fail",
    unit: "ms",
    limit: "ingestStuckMs",
    forMs: TWO_TICKS_MS,
    evaluate: evaluateStuck,
  },
  replication_stuck: {
    severity: "fail",
    unit: "ms",
    limit: "ingestStuckMs",
    evaluate: evaluateReplication,
  },
  foreign_stores: { severity: "fail", unit: "copies", limit: 1, evaluate: evaluateStores },
  guard_tripped: { severity: "warn", unit: "guards", limit: 1, evaluate: evaluateGuards },
  rows_unusable: { severity: "warn", unit: "rows", limit: 1, evaluate: evaluateUnusable },
  changes_held: { severity: "warn", unit: "ms", limit: "changesHeldMs", evaluate: evaluateHeld },
  ingest_paused_long: {
    severity: "warn",
    unit: "ms",
    limit: "ingestPausedMs",
    evaluate: evaluatePause,
  },
  queue_backlog: {
    severity: "warn",
    unit: "runs",
    limit: 5,
    forMs: FOUR_TICKS_MS,
    evaluate: evaluateBacklog,
  },
  blobs_lost: { severity: "fail", unit: "blobs", limit: 1, evaluate: evaluateLostBlobs },
  integrity_mismatch: {
    severity: "warn",
    unit: "copies",
    limit: 1,
    forMs: TWO_TICKS_MS,
    evaluate: evaluateCopies,
  },
  ledger_lost: { severity: "warn", unit: "copies", limit: 1, evaluate: evaluateLedger },
  history_lost: { severity: "warn", unit: "rows", limit: 1, evaluate: evaluateHistory },
  values_set_aside: { severity: "warn", unit: "rows", limit: 1, evaluate: evaluateSetAside },
  backup_stale: {
    severity: "fail",
    unit: "ms",
    limit: "backupStaleMs",
    evaluate: evaluateBackupAge,
  },
  backup_unverified: {
    severity: "warn",
    unit: "ms",
    limit: "backupUnverifiedMs",
    evaluate: evaluateVerification,
  },
  coverage_drop: { severity: "warn", unit: "points", limit: 5, evaluate: evaluateCoverage },
  locales_differ: { severity: "warn", unit: "locales", limit: 1, evaluate: evaluateLocales },
  notify_failing: { severity: "warn", unit: "evaluations", limit: 3, evaluate: evaluateTargets },
  ticks_missed: { severity: "warn", unit: "ticks", limit: 1, evaluate: evaluateTicks },
  monitor_gap: { severity: "warn", unit: "ms", limit: MONITOR_GAP_MS, evaluate: evaluateGap },
  token_expiring: { severity: "warn", unit: "tokens", limit: 1, evaluate: evaluateTokens },
  settings_wrong: { severity: "warn", unit: "settings", limit: 1, evaluate: evaluateSettings },
};

export interface RuleFinding extends Required<Omit<Finding, "verdict">> {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly forMs: DurationMs;
  readonly verdict: FindingVerdict;
  /** Checks, answers and alerts all show this status. */
  readonly status: HealthStatus;
  /** The status, or the severity of the rule if the status is `pass`. */
  readonly severity: Severity;
}

export function evaluateRules(facts: Facts, context: RuleContext): readonly RuleFinding[] {
  return RULE_NAMES.flatMap((name) =>
    [RULES[name].evaluate(facts, context)]
      .flat()
      .map((finding) => completeFinding(name, finding, context)),
  );
}

/** Completes a finding with its limit, its identity and its status. */
export function completeFinding(
  name: RuleName,
  finding: Finding,
  { limits }: Pick<RuleContext, "limits">,
): RuleFinding {
  const rule = RULES[name];
  const { limit, forMs = 0, severity, unit } = rule;
  const threshold = finding.threshold ?? (typeof limit === "number" ? limit : limits[limit]);
  const { value, labels = {}, suppressed = false } = finding;
  // NaN is never below the threshold, so it is bad.
  const isGood = value !== null && value < threshold;
  const verdict = finding.verdict ?? (isGood ? "good" : "bad");
  const status = statusOf(rule, { verdict, value, suppressed });
  return {
    unit,
    evidence: {},
    ...finding,
    labels,
    threshold,
    suppressed,
    verdict,
    rule: name,
    fingerprint: fingerprintOf(name, labels),
    forMs,
    status,
    severity: status === "pass" ? severity : status,
  };
}

function statusOf(
  { severity, warnsFrom }: AlertRule,
  { verdict, value, suppressed }: Pick<RuleFinding, "verdict" | "value" | "suppressed">,
): HealthStatus {
  if (verdict === "bad") return suppressed ? "warn" : severity;
  const isNear = warnsFrom !== undefined && value !== null && value >= warnsFrom;
  return verdict === "nodata" || isNear ? "warn" : "pass";
}

/** Hex digits of a fingerprint, as in Alertmanager. */
const FINGERPRINT_LENGTH = 16;

/** Identifies an alert by its rule and labels. Never changes. */
export function fingerprintOf(rule: RuleName, labels: RuleFinding["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([rule, sorted])).slice(0, FINGERPRINT_LENGTH);
}
