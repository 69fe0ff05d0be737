import { sha256Hex } from "../catalog/bytes.ts";
import {
  judgeBackupAge,
  judgeGap,
  judgeSetAside,
  judgeSettings,
  judgeTargets,
  judgeTokens,
  judgeVerification,
} from "./operation-rules.ts";
import {
  judgeCopies,
  judgeCoverage,
  judgeDataAge,
  judgeLocales,
  judgeLostBlobs,
  judgeStaleness,
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
  judgeBacklog,
  judgeFailures,
  judgeGuards,
  judgeHeld,
  judgeHistory,
  judgeLedger,
  judgeStores,
  judgePause,
  judgeReplication,
  judgeSource,
  judgeStuck,
  judgeTicks,
  judgeUnusable,
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
    evaluate: judgeStaleness,
  },
  data_old: { severity: "warn", unit: "ms", limit: "dataOldMs", evaluate: judgeDataAge },
  ingest_failing: {
    severity: "fail",
    unit: "runs",
    limit: "ingestFailingRuns",
    warnsFrom: 1,
    evaluate: judgeFailures,
  },
  source_broken: { severity: "fail", unit: "runs", limit: 1, evaluate: judgeSource },
  ingest_stuck: {
    severity: "fail",
    unit: "ms",
    limit: "ingestStuckMs",
    forMs: TWO_TICKS_MS,
    evaluate: judgeStuck,
  },
  replication_stuck: {
    severity: "fail",
    unit: "ms",
    limit: "ingestStuckMs",
    evaluate: judgeReplication,
  },
  foreign_stores: { severity: "fail", unit: "copies", limit: 1, evaluate: judgeStores },
  guard_tripped: { severity: "warn", unit: "guards", limit: 1, evaluate: judgeGuards },
  rows_unusable: { severity: "warn", unit: "rows", limit: 1, evaluate: judgeUnusable },
  changes_held: { severity: "warn", unit: "ms", limit: "changesHeldMs", evaluate: judgeHeld },
  ingest_paused_long: {
    severity: "warn",
    unit: "ms",
    limit: "ingestPausedMs",
    evaluate: judgePause,
  },
  queue_backlog: {
    severity: "warn",
    unit: "runs",
    limit: 5,
    forMs: FOUR_TICKS_MS,
    evaluate: judgeBacklog,
  },
  blobs_lost: { severity: "fail", unit: "blobs", limit: 1, evaluate: judgeLostBlobs },
  integrity_mismatch: {
    severity: "warn",
    unit: "copies",
    limit: 1,
    forMs: TWO_TICKS_MS,
    evaluate: judgeCopies,
  },
  ledger_lost: { severity: "warn", unit: "copies", limit: 1, evaluate: judgeLedger },
  history_lost: { severity: "warn", unit: "rows", limit: 1, evaluate: judgeHistory },
  values_set_aside: { severity: "warn", unit: "rows", limit: 1, evaluate: judgeSetAside },
  backup_stale: { severity: "fail", unit: "ms", limit: "backupStaleMs", evaluate: judgeBackupAge },
  backup_unverified: {
    severity: "warn",
    unit: "ms",
    limit: "backupUnverifiedMs",
    evaluate: judgeVerification,
  },
  coverage_drop: { severity: "warn", unit: "points", limit: 5, evaluate: judgeCoverage },
  locales_differ: { severity: "warn", unit: "locales", limit: 1, evaluate: judgeLocales },
  notify_failing: { severity: "warn", unit: "evaluations", limit: 3, evaluate: judgeTargets },
  ticks_missed: { severity: "warn", unit: "ticks", limit: 1, evaluate: judgeTicks },
  monitor_gap: { severity: "warn", unit: "ms", limit: MONITOR_GAP_MS, evaluate: judgeGap },
  token_expiring: { severity: "warn", unit: "tokens", limit: 1, evaluate: judgeTokens },
  settings_wrong: { severity: "warn", unit: "settings", limit: 1, evaluate: judgeSettings },
};

export interface RuleFinding extends Required<Omit<Finding, "verdict">> {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly forMs: DurationMs;
  readonly verdict: FindingVerdict;
  /** The only judgment: checks, answers and alerts show it. */
  readonly status: HealthStatus;
  /** The status, or the severity of the rule if the status is `pass`. */
  readonly severity: Severity;
}

/** Evaluates every rule. Pure. */
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
